# SPDX-License-Identifier: Apache-2.0
"""assay-tap with the real store, in a network namespace of its own: files
played, live capture beside what curl received, the batch feed both ways, a
store that dies, exit codes.

Comes in: ASSAY_TAP, ASSAY_STORE, ASSAY_DUMP (programs), ASSAY_RECORDINGS. Needs
root (for the namespace and the capture).
"""

import collections
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
from held_port import held_port  # noqa: E402

TAP, STORE = os.environ["ASSAY_TAP"], os.environ["ASSAY_STORE"]
DUMP = os.environ["ASSAY_DUMP"]
ENGINE = os.path.join(os.environ["ASSAY_RECORDINGS"], "vllm", "smol-bf16-solo",
                      "capture.pcap")
WAIT_S = 120
# The leak check at the end of a sanitized program does what the sandbox kills.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")


def until(condition):
    """Waits until condition() is true, and returns it."""
    end = time.monotonic() + WAIT_S
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


class Bed:
    """A directory with settings, a store, and taps."""

    def __init__(self, **tap):
        self.dir = tempfile.mkdtemp(prefix="assay-tap-")
        self.conf = os.path.join(self.dir, "assay.conf")
        self.state = os.path.join(self.dir, "state")
        rows = ['    %s = %s;' % (k, json.dumps(v)) for k, v in tap.items()]
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write('store: { state_dir = "%s"; run_dir = "%s/run"; };\n'
                    'tap: {\n%s\n};\n' % (self.state, self.dir,
                                          "\n".join(rows)))
        self.store = self.tap = None

    def start_store(self):
        self.store = subprocess.Popen([STORE, "-c", self.conf],
                                      stderr=subprocess.DEVNULL)
        socket_path = os.path.join(self.dir, "run", "tap.sock")
        assert until(lambda: os.path.exists(socket_path) and
                     self.answers(socket_path))

    @staticmethod
    def answers(path):
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(path) == 0

    def kill_store(self):
        self.store.kill()
        self.store.wait()

    def play(self, *files):
        return subprocess.run([TAP, "-c", self.conf, *files], check=False,
                              stderr=subprocess.PIPE)

    def start_tap(self):
        self.tap = subprocess.Popen([TAP, "-c", self.conf],
                                    stderr=subprocess.PIPE)
        lines = iter(self.tap.stderr.readline, b"")
        assert any(b"started" in line for line in lines)

    def stop_tap(self):
        self.tap.send_signal(signal.SIGTERM)
        code = self.tap.wait(WAIT_S)
        self.tap.stderr.close()
        return code

    def rows(self, query):
        db = sqlite3.connect("file:%s?mode=ro" % os.path.join(
            self.state, "index.db"), uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def close(self):
        for process in (self.tap, self.store):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(WAIT_S)
        shutil.rmtree(self.dir)


def dumped(path):
    """What dump_exchanges makes of a file, as rows of the index."""
    run = subprocess.run([DUMP, path], check=True, capture_output=True)
    rows = [json.loads(row) for row in run.stdout.splitlines()]
    return collections.Counter(
        (x["method"], x["target"], x["status"], x["complete"],
         x["cause"], x["model"], x["tokens_out"],
         x["req"]["raw"][0] or None, x["resp"]["raw"][0] or None)
        for x in rows if x["kind"] == "exchange")


def leave_out_the_largest(path, to):
    """Copies a capture of Ethernet, IPv4 and TCP but for the frame of the most
    payload; how much that is."""
    with open(path, "rb") as f:
        data = f.read()
    frames, at = [], 24
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8:at + 12], "little")
        ip = at + 16 + 14
        tcp = ip + 4 * (data[ip] & 15)
        length = int.from_bytes(data[ip + 2:ip + 4], "big")
        frames.append((length - (tcp - ip) - 4 * (data[tcp + 12] >> 4),
                       at, end))
        at = end
    payload, at, end = max(frames)
    with open(to, "wb") as f:
        f.write(data[:at] + data[end:])
    return payload


def recorded(bed):
    return collections.Counter(bed.rows(
        "SELECT method, target, status, complete, cause, model, tokens_out,"
        " req_len, resp_len FROM exchange"))


class Files(unittest.TestCase):
    def setUp(self):
        self.bed = Bed()
        self.addCleanup(self.bed.close)

    def accounted(self):
        traffic = self.bed.rows(
            "SELECT payload_bytes, attributed_bytes + retransmitted_bytes +"
            " unparsed_bytes + pending_bytes, pending_bytes, from_ns, to_ns"
            " FROM traffic")
        for payload, parts, pending, from_ns, to_ns in traffic:
            self.assertEqual((payload, pending), (parts, 0))
            self.assertLessEqual(from_ns, to_ns)
        return len(traffic)

    def test_a_file_played_is_what_the_tap_makes_of_it(self):
        gap = os.path.join(self.bed.dir, "gap.pcap")
        lost = leave_out_the_largest(ENGINE, gap)
        self.assertGreater(lost, 1000)
        self.bed.start_store()
        run = self.bed.play(ENGINE, gap)
        self.assertEqual(run.returncode, 0, run.stderr)
        expect = dumped(ENGINE) + dumped(gap)
        until(lambda: recorded(self.bed) == expect)
        self.assertEqual(recorded(self.bed), expect)
        self.assertTrue(until(lambda: self.accounted() == 2))
        self.assertEqual(self.bed.rows("SELECT DISTINCT source FROM exchange"
                                       " ORDER BY 1"),
                         [("file:capture.pcap",), ("file:gap.pcap",)])
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT sum(bytes) FROM loss WHERE cause = 'gap'") == [(lost,)]))

    def test_a_store_that_dies_loses_nothing(self):
        self.bed.start_store()
        play = subprocess.Popen([TAP, "-c", self.bed.conf] + [ENGINE] * 40,
                                stderr=subprocess.DEVNULL)
        for _ in range(5):
            time.sleep(0.15)
            self.bed.kill_store()
            self.bed.start_store()
        self.assertEqual(play.wait(WAIT_S), 0)
        expect = sum(dumped(ENGINE).values()) * 40
        count = "SELECT count(*) FROM (SELECT DISTINCT stream, \"index\"," \
                " req_first_ns FROM exchange)"
        until(lambda: self.bed.rows(count) == [(expect,)])
        self.assertEqual(self.bed.rows(count), [(expect,)])

    def test_rights_are_given_up(self):
        with open(self.bed.conf, "w", encoding="utf-8") as f:
            f.write('store: { state_dir = "%s"; run_dir = "%s/run";'
                    ' user_tap = "nobody"; };\n'
                    'tap: { user = "nobody"; };\n' %
                    (self.bed.state, self.bed.dir))
        os.chmod(self.bed.dir, 0o755)
        self.bed.start_store()
        run = self.bed.play(ENGINE)
        self.assertEqual(run.returncode, 0, run.stderr)
        until(lambda: recorded(self.bed) == dumped(ENGINE))
        self.assertEqual(recorded(self.bed), dumped(ENGINE))

    def test_exit_codes(self):
        self.assertEqual(self.bed.play("/nonexistent.pcap").returncode, 4)
        self.bed.start_store()
        with open(ENGINE, "rb") as f:
            whole = f.read()
        cut = os.path.join(self.bed.dir, "cut.pcap")
        with open(cut, "wb") as f:
            f.write(whole[:-7])
        self.assertEqual(self.bed.play(cut).returncode, 1)
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT count FROM loss WHERE cause = 'truncated_file'") ==
            [(1,)]))
        self.assertEqual(subprocess.run([TAP, "-x"], check=False,
                                        stderr=subprocess.DEVNULL).returncode,
                         2)
        with open(self.bed.conf, "a", encoding="utf-8") as f:
            f.write("nothing: 1;\n")
        self.assertEqual(self.bed.play(ENGINE).returncode, 3)


class Server(http.server.ThreadingHTTPServer):
    """Streams events, and answers what is posted with its length."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            n = int(self.headers["Content-Length"])
            body = self.rfile.read(n)
            if b'"stream": true' in body:
                self.events(24, b'"prompt": "hold"' in body)
            else:
                text = b'{"object": "text_completion", "n": %d}' % n
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        def events(self, n, hold):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(n):
                self.chunk(b"data: " + json.dumps(
                    {"id": "cmpl-7", "object": "text_completion", "model": "m",
                     "choices": [{"index": 0, "text": " %d" % i}]}
                ).encode() + b"\n\n")
                time.sleep(0.002)
            self.chunk(b"data: [DONE]\n\n")
            if hold:
                self.rfile.read(1)  # until its client leaves
            self.chunk(b"")

        def chunk(self, data):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def log_message(self, *args):
            pass

    def handle_error(self, request, client_address):
        pass  # a client that leaves is part of the test

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


def message(seq, feed="f", **keys):
    return json.dumps(dict(
        {"assay": "batch-step/1", "engine": "e0", "feed": feed, "seq": seq,
         "step": seq, "time_ns": "1764417600000000000", "padded": 0,
         "members": [{"id": "cmpl-7", "choice": 0, "start": seq, "n": 1,
                      "cached": 0}]}, **keys)).encode()


def post(port, target, body, timeout=WAIT_S):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    c.request("POST", target, body)
    status = c.getresponse().status
    c.close()
    return status


class Live(unittest.TestCase):
    def setUp(self):
        self.feed = held_port()
        self.server = Server()
        self.bed = Bed(interface="lo", interval_s=1, buffer_mib=16,
                       messages_mib=64,
                       filter="tcp port %d" % self.server.port,
                       feed_listen="127.0.0.1:%d" % self.feed)
        self.addCleanup(self.bed.close)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def curl(self, body, *options):
        run = subprocess.run(
            ["curl", "-s", "--noproxy", "*", "-H", "Expect:", *options,
             "--data-binary", "@-",
             "http://127.0.0.1:%d/v1/completions" % self.server.port],
            check=False, capture_output=True, input=body.encode())
        return run.stdout

    def leave(self, body, after=b'" 2"'):
        """A client that closes once it has got this; returns all it got."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.server.port)) as s:
            s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: h\r\n"
                      b"Content-Length: %d\r\n\r\n%s" %
                      (len(body), body.encode()))
            while after not in got:
                got += s.recv(4096)
        return got

    def test_exchanges_are_what_curl_received(self):
        self.bed.start_store()
        self.bed.start_tap()
        streams = [self.curl('{"model": "m", "stream": true, "prompt": "%d"}'
                             % i) for i in range(5)]
        plain = [self.curl('{"model": "m", "prompt": "%s"}' % ("x" * n))
                 for n in (1, 5000, 200000)]
        cut = self.leave('{"model": "m", "stream": true, "prompt": "cut"}')
        # What it has not read when it is told to end is not recorded.
        for sql, least in (("SELECT count(*) FROM exchange", 9),
                           ("SELECT count(*) FROM traffic", 2)):
            self.assertTrue(until(lambda: self.bed.rows(sql)[0][0] >= least))
        self.assertEqual(self.bed.stop_tap(), 0)
        self.assertEqual(self.bed.rows("SELECT count(*) FROM exchange"),
                         [(9,)])
        rows = self.bed.rows("SELECT complete, cause, events, api_id, streamed,"
                             " resp_len, req_len FROM exchange ORDER BY seq")
        for row, body in zip(rows[:5], streams):
            self.assertEqual(row[:5], (1, "", 25, "cmpl-7", 1))
            self.assertEqual(body.count(b"data: "), 25)
            # Beside the body: the head, and each chunk's size and line ends.
            self.assertGreater(row[5], len(body) + 26 * 5)
        for row, body in zip(rows[5:8], plain):
            self.assertEqual((row[0], row[4]), (1, 0))
            self.assertEqual(row[5] - len(body), rows[5][5] - len(plain[0]) +
                             len(str(len(body))) - len(str(len(plain[0]))))
        self.assertGreater(rows[7][6], 200000)
        self.assertEqual(rows[8][:2], (0, "client_cut"))
        self.assertLess(len(cut), len(streams[0]))
        self.assertEqual(self.bed.rows(
            "SELECT count(*) FROM traffic WHERE payload_bytes !="
            " attributed_bytes + retransmitted_bytes + unparsed_bytes +"
            " pending_bytes"), [(0,)])

    def test_a_stream_left_when_it_was_done_is_whole(self):
        self.bed.start_store()
        self.bed.start_tap()
        self.leave('{"model": "m", "stream": true, "prompt": "hold"}',
                   b"[DONE]\n\n")
        self.leave('{"model": "m", "stream": true, "prompt": "hold"}')
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT complete, cause, events FROM exchange WHERE complete=1") ==
            [(1, "", 25)]))
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT complete, cause FROM exchange WHERE complete=0") ==
            [(0, "client_cut")]))
        self.assertEqual(self.bed.stop_tap(), 0)

    def test_the_feed_comes_by_the_wire_and_by_the_listener(self):
        self.bed.start_store()
        self.bed.start_tap()
        steps = "/x/assay/v1/steps"
        self.assertEqual(post(self.feed, steps, message(0) + b"\n" +
                              message(1) + b"\n"), 204)
        # Durable when answered; the index follows.
        self.assertEqual(post(self.feed, steps, message(1)), 204)
        self.assertEqual(post(self.feed, steps, b'{"assay": 1}\n' +
                              message(2)), 400)
        self.assertEqual(post(self.feed, "/other", message(3)), 404)
        self.assertEqual(post(self.feed, steps, message(0, "late")), 204)
        self.assertEqual(post(self.server.port, steps, message(3)), 200)
        self.assertEqual(post(self.server.port, steps, message(6)), 200)
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT count(*) FROM batch_step") == [(6,)]))
        self.assertEqual(self.bed.stop_tap(), 0)
        self.assertEqual(self.bed.rows(
            "SELECT feed_seq FROM batch_step WHERE feed = 'f' ORDER BY seq"),
            [(0,), (1,), (2,), (3,), (6,)])
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT object, count FROM loss WHERE cause = 'feed_gap'") ==
            [("e0 f", 2)]))
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT count FROM unparsed WHERE cause = 'feed'") == [(1,)]))
        self.assertEqual(self.bed.rows("SELECT count(*) FROM exchange"),
                         [(0,)])

    def test_a_message_sent_again_is_answered_when_it_is_durable(self):
        self.bed.start_tap()
        steps = "/assay/v1/steps"
        body = b"\n".join(message(i) for i in range(2000))
        for part in (message(0), message(0), body):
            with self.assertRaises(TimeoutError):
                post(self.feed, steps, part, 0.5)
        self.bed.start_store()
        self.assertEqual(post(self.feed, steps, body), 204)
        self.assertEqual(self.bed.stop_tap(), 0)
        self.assertTrue(until(lambda: self.bed.rows(
            "SELECT count(*), count(DISTINCT feed_seq) FROM batch_step") ==
            [(2000, 2000)]))
        self.assertEqual(self.bed.rows("SELECT count(*) FROM loss"), [(0,)])

    def test_capture_goes_on_without_the_store(self):
        self.bed.start_tap()
        bodies = [self.curl('{"model": "m", "prompt": "%d"}' % i)
                  for i in range(20)]
        self.assertEqual(len(bodies), 20)
        self.bed.start_store()
        self.assertTrue(until(lambda: os.path.exists(os.path.join(
            self.bed.state, "index.db")) and self.bed.rows(
                "SELECT count(*) FROM exchange WHERE complete = 1") ==
            [(20,)]))
        self.assertEqual(self.bed.stop_tap(), 0)


if __name__ == "__main__":
    if os.environ.get("ASSAY_OWN_NET") != "1":
        os.environ["ASSAY_OWN_NET"] = "1"
        os.execvp("unshare", ["unshare", "-n", sys.executable] + sys.argv)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    unittest.main()
