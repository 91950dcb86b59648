# SPDX-License-Identifier: Apache-2.0
"""pcap_times - when a captured exchange began and ended, read from the capture
file by code that shares nothing with the tap: lossless loopback captures of
IPv4 and HTTP/1.1 only.
"""

import re
import struct


def _packets(path):
    """(time in ns, source, destination, TCP sequence number, payload)."""
    with open(path, "rb") as f:
        data = f.read()
    magic = data[:4]
    end = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    (link,) = struct.unpack_from(end + "I", data, 20)
    skip = {1: 14, 0: 4, 101: 0, 113: 16}[link & 0xffff]
    at = 24
    while at + 16 <= len(data):
        sec, frac, n, _ = struct.unpack_from(end + "IIII", data, at)
        ip = data[at + 16 + skip:at + 16 + n]
        at += 16 + n
        if len(ip) < 40 or ip[0] >> 4 != 4 or ip[9] != 6:
            continue
        tcp = ip[(ip[0] & 15) * 4:struct.unpack_from(">H", ip, 2)[0]]
        source, target, seq = struct.unpack_from(">HHI", tcp)
        yield (sec * 10**9 + frac * unit, (ip[12:16], source),
               (ip[16:20], target), seq, tcp[(tcp[12] >> 4) * 4:])


class Times:
    def __init__(self, found):
        self._found = found  # (body, first, last)

    def pop_body(self, body):
        """(first, last) of the next exchange with this request body."""
        for i, (sent, first, last) in enumerate(self._found):
            if sent.rstrip() == body:
                del self._found[i]
                return first, last
        raise KeyError(body[:60])


def exchange_times(path):
    """Requests of each connection in order; an answer ends with the server's
    last bytes before the next request."""
    streams, order = {}, []
    for time, source, target, seq, payload in _packets(path):
        if not payload:
            continue
        pieces, seen = streams.setdefault((source, target), ([], set()))
        if not pieces:
            order.append((source, target))
        if seq not in seen:  # else sent again
            seen.add(seq)
            pieces.append((time, payload))
    found = []
    for source, target in order:
        pieces = streams[source, target][0]
        back = streams.get((target, source), ([], set()))[0]
        text, marks = b"", []
        for time, payload in pieces:
            marks.append((len(text), time))
            text += payload
        if not re.match(rb"[A-Z]+ \S+ HTTP/1", text):
            continue
        at, requests = 0, []
        while at < len(text):
            head = text.index(b"\r\n\r\n", at) + 4
            n = re.search(rb"(?im)^content-length: *(\d+)", text[at:head])
            end = head + (int(n.group(1)) if n else 0)
            first = max(t for o, t in marks if o <= at)
            requests.append((text[head:end], first))
            at = end
        for i, (body, first) in enumerate(requests):
            until = requests[i + 1][1] if i + 1 < len(requests) else 1 << 62
            last = max([t for t, _ in back if first <= t < until] or [first])
            found.append((body, first, last))
    return Times(sorted(found, key=lambda f: f[1]))
