# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds under corpus/http1, corpus/pair and corpus/batch_step; the
forms are described in fuzz_http1.c, fuzz_pair.c and fuzz_batch_step.c. Run it
again after changing a form; the files are reviewed as a diff.
"""

import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")

REQUESTS = {
    "get": b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
    "post": b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    "chunked": b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
    "both": b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "lengths": b"POST /a HTTP/1.1\r\nContent-Length: 5, 6\r\n\r\nhello",
    "broken": b"GET /\r\n\r\n",
    "head": b"HEAD /a HTTP/1.1\r\nX: a\r\n folded\r\n\r\n",
    "connect": b"CONNECT h:1 HTTP/1.1\r\n\r\n",
    "proxy1": b"PROXY TCP4 192.168.1.1 10.0.0.2 56324 8080\r\n"
              b"GET /a HTTP/1.1\r\n\r\n",
    "proxy2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\xa8\1\1\x0a\0\0\2"
              b"\xdc\x04\x1f\x90GET /a HTTP/1.1\r\n\r\n",
}
ANSWERS = {
    "ok": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    "stream": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              b"Transfer-Encoding: chunked\r\n\r\n"
              b"9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n",
    "close": b"HTTP/1.0 200 OK\r\n\r\nall",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\n"
               b"HTTP/1.1 204 No Content\r\n\r\n",
    "switch": b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x01x",
    "lax": b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nx\n0\n\n",
    "tls": b"\x16\x03\x01\x02\x00\x01",
}
BATCH = {
    "whole": b'{"assay":"batch-step/1","engine":"e0","feed":"7f3a","seq":17,'
             b'"step":41,"time_ns":"1764417600123456789","padded":8,"members":'
             b'[{"id":"cmpl-1","choice":0,"start":0,"n":12,"cached":0,'
             b'"prompt":[1,403,407],"params":{"seed":7}}],"ops":["R 0 5"]}',
    "empty": b'{"assay":"batch-step/1","engine":"e","feed":"f","seq":0,'
             b'"step":0,"time_ns":"1","padded":0,"members":[]}',
    "names": b'{"assay":"batch-step/1","engine":"e","feed":"f",'
             b'"names":"engine","seq":0,"step":0,"time_ns":"1","padded":0,'
             b'"members":[]}',
    "digest": b'{"assay":"batch-step/1","engine":"e","feed":"f","seq":0,'
              b'"step":0,"time_ns":"1","padded":0,"members":[{"id":"r",'
              b'"choice":0,"start":0,"n":1,"cached":0,"prompt_digest":"' +
              b"0a" * 32 + b'","prompt_n":3}]}',
}


def write(folder, name, data):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as f:
        f.write(data)


def chunks(text, size):
    pieces = [text[i:i + size] for i in range(0, len(text), size)]
    return [bytes([len(p)]) + p for p in pieces]


def op(what, side, data=b""):
    return bytes([what | side << 3, len(data)]) + data


def say(side, text):
    return b"".join(op(0, side, text[i:i + 200])
                    for i in range(0, len(text), 200))


def main():
    for side, table in ((0, REQUESTS), (1, ANSWERS)):
        for name, text in table.items():
            kind = "answer" if side else "request"
            write("http1", "%s-%s" % (kind, name),
                  bytes([side]) + b"".join(chunks(text, 20)))
            write("http1", "%s-%s-gap" % (kind, name), bytes([side]) +
                  b"\xff\x03".join(chunks(text, 40)))
    for q, request in REQUESTS.items():
        for a, answer in ANSWERS.items():
            write("pair", "%s-%s" % (q, a), say(0, request) + say(1, answer) +
                  say(0, request) + op(3, 1, b"\x20") + say(0, request) +
                  say(1, answer) + op(5, 1, b"\x09") + op(4, 0) + op(4, 1) +
                  op(6, 0, b"\x00") + say(1, answer))
    for name, text in BATCH.items():
        write("batch_step", name, text)


if __name__ == "__main__":
    main()
