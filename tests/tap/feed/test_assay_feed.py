# SPDX-License-Identifier: Apache-2.0
"""Tests of tap/plugins/assay_feed.py against a listener on loopback."""

import hashlib
import http.server
import json
import os
import struct
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "tap", "plugins"))
import assay_feed  # noqa: E402

WAIT_S = 100


class Listener:
    """Keeps what is posted; answers a script of statuses, then 204."""

    def __init__(self, statuses=(), gate=None, port=0):
        outer = self
        self.posts, self.peers, self.statuses = [], set(), list(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                if gate is not None:
                    gate.wait()
                n = int(self.headers["Content-Length"])
                outer.posts.append((self.path, self.rfile.read(n)))
                outer.peers.add(self.client_address)
                status = outer.statuses.pop(0) if outer.statuses else 204
                if status is None:  # hang up without an answer
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port),
                                                      Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def messages(self):
        return [json.loads(line) for _, body in self.posts
                for line in body.decode().splitlines()]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


MEMBER = {"id": "r", "choice": 0, "start": 5, "n": 1, "cached": 0}


class StepFeedTest(unittest.TestCase):
    def setUp(self):
        self.listeners = []

    def tearDown(self):
        for listener in self.listeners:
            listener.close()

    def listen(self, *args, **keys):
        self.listeners.append(Listener(*args, **keys))
        return self.listeners[-1]

    def test_sends_every_step_in_order_on_one_connection(self):
        listener = self.listen()
        feed = assay_feed.StepFeed(listener.url, "e0")
        for i in range(500):
            feed.step(i + 7, [dict(MEMBER, start=i)], padded=8,
                      ops=["R 0 5"], time_ns=10**18 + i)
        self.assertTrue(feed.close(timeout=WAIT_S))
        messages = listener.messages()
        self.assertEqual([m["seq"] for m in messages], list(range(500)))
        self.assertEqual([m["step"] for m in messages],
                         list(range(7, 507)))
        self.assertEqual(messages[3]["time_ns"], str(10**18 + 3))
        self.assertEqual({m["names"] for m in messages}, {"answers"})
        self.assertEqual(messages[3]["members"], [dict(MEMBER, start=3)])
        self.assertEqual((messages[3]["padded"], messages[3]["ops"]),
                         (8, ["R 0 5"]))
        self.assertEqual(len({m["feed"] for m in messages}), 1)
        self.assertEqual({p for p, _ in listener.posts}, {"/assay/v1/steps"})
        self.assertEqual(len(listener.peers), 1)

    def test_says_whose_ids_the_members_carry(self):
        listener = self.listen()
        feed = assay_feed.StepFeed(listener.url, "e0", names="engine")
        feed.step(1, [MEMBER])
        self.assertTrue(feed.close(timeout=WAIT_S))
        self.assertEqual([m["names"] for m in listener.messages()],
                         ["engine"])
        with self.assertRaises(ValueError):
            assay_feed.StepFeed(listener.url, "e0", names="slots")

    def test_drops_when_full_and_the_gap_shows(self):
        gate = threading.Event()
        listener = self.listen(gate=gate)
        feed = assay_feed.StepFeed(listener.url, "e0", queue=10)
        for i in range(2000):
            feed.step(i, [MEMBER])  # were it to wait, then for ever
        gate.set()
        # One more after the queue was emptied: the numbers went on.
        while feed.sent == 0 or feed._queue:
            time.sleep(0.01)
        feed.step(2000, [MEMBER])
        self.assertFalse(feed.close(timeout=WAIT_S))
        numbers = [m["seq"] for m in listener.messages()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(numbers[-1], 2000)
        self.assertEqual(feed.dropped, 2001 - len(numbers))
        self.assertGreater(feed.dropped, 1000)

    def test_sends_again_after_503_and_after_a_lost_connection(self):
        listener = self.listen([503, None])
        feed = assay_feed.StepFeed(listener.url, "e0")
        feed.step(1, [MEMBER])
        self.wait_sent(feed, 1)
        self.assertTrue(feed.close(timeout=WAIT_S))
        bodies = [body for _, body in listener.posts]
        self.assertEqual(len(bodies), 3)
        self.assertEqual(len(set(bodies)), 1)  # the same feed and seq

    def test_an_outage_of_any_length_costs_nothing(self):
        """Refused and hung up on more often than any count of attempts would
        bear; messages of the meantime come in their order."""
        outage = threading.Event()
        listener = self.listen([503, None] * 8)
        feed = assay_feed.StepFeed(listener.url, "e0", queue=50)
        feed._pause = lambda seconds: (feed._write(), outage.wait())
        for i in range(3000):
            feed.step(i, [MEMBER])
            if i == 49:
                outage.set()
            while feed._queue and i >= 49:
                time.sleep(0.001)  # the queue goes on into the backlog
        self.assertTrue(feed.close(timeout=WAIT_S))
        self.assertEqual((feed.sent, feed.dropped), (3000, 0))
        # What was hung up on has come nevertheless.
        numbers = [m["seq"] for m in listener.messages()]
        self.assertEqual(list(dict.fromkeys(numbers)), list(range(3000)))

    def test_what_is_not_answered_is_sent_again(self):
        class First:  # of the posts alone
            gate, n = threading.Event(), 0

            def wait(self):
                self.n += 1
                if self.n == 1:
                    self.gate.wait()

        first = First()
        listener = self.listen(gate=first)
        feed = assay_feed.StepFeed(listener.url, "e0", timeout=0.5)
        feed.step(1, [MEMBER])
        self.assertTrue(feed.close(timeout=WAIT_S))
        self.assertGreater(first.n, 1)
        first.gate.set()

    def test_a_listener_that_comes_later_gets_all(self):
        late = Listener()
        late.close()
        feed = assay_feed.StepFeed(late.url, "e0")
        for i in range(10):
            feed.step(i, [MEMBER])
        port = int(late.url.rsplit(":", 1)[1])
        self.listeners.append(Listener(port=port))
        self.assertTrue(feed.close(timeout=WAIT_S))
        self.assertEqual([m["seq"] for m in self.listeners[-1].messages()],
                         list(range(10)))

    def test_a_backlog_that_is_full_is_a_gap(self):
        gate = threading.Event()
        listener = self.listen(gate=gate)
        feed = assay_feed.StepFeed(listener.url, "e0", queue=10, backlog=1)
        for i in range(100):
            feed.step(i, [MEMBER])
        gate.set()
        feed.close(timeout=WAIT_S)
        self.assertGreater(feed.dropped, 0)
        self.assertEqual(feed.sent + feed.dropped, 100)
        self.assertEqual(len(listener.messages()), feed.sent)

    def test_any_other_answer_will_do(self):
        listener = self.listen([404, 500])
        feed = assay_feed.StepFeed(listener.url + "/sink", "e0")
        feed.step(1, [MEMBER])
        self.wait_sent(feed, 1)
        feed.step(2, [MEMBER])
        self.wait_sent(feed, 2)
        self.assertTrue(feed.close(timeout=WAIT_S))
        self.assertEqual([p for p, _ in listener.posts],
                         ["/sink/assay/v1/steps"] * 2)

    def test_nobody_listening_costs_the_engine_nothing(self):
        listener = Listener()
        url = listener.url
        listener.close()
        feed = assay_feed.StepFeed(url, "e0", queue=100)
        for i in range(1000):
            feed.step(i, [MEMBER])  # as above: none of these may wait
        self.assertFalse(feed.close(timeout=0.5))
        self.assertEqual(feed.dropped, 1000)

    def test_a_listener_that_never_answers_holds_up_nobody(self):
        gate = threading.Event()
        feed = assay_feed.StepFeed(self.listen(gate=gate).url, "e0")
        feed.step(1, [MEMBER])
        self.assertFalse(feed.close(timeout=0.1))
        gate.set()

    def test_what_is_no_json_is_a_gap_and_no_error(self):
        listener = self.listen()
        feed = assay_feed.StepFeed(listener.url, "e0")
        feed.step(1, [{"id": object()}])
        feed.step(2, [MEMBER])
        feed.close(timeout=WAIT_S)
        self.assertEqual([m["seq"] for m in listener.messages()], [1])

    def test_a_prompt_beyond_the_limit_becomes_its_digest(self):
        listener = self.listen()
        feed = assay_feed.StepFeed(listener.url, "e0")
        ids = [49151] * 200000
        feed.step(1, [dict(MEMBER, start=0, n=len(ids), prompt=ids)])
        self.assertTrue(feed.close(timeout=WAIT_S))
        (message,) = listener.messages()
        digest = hashlib.sha256(struct.pack(">I", 49151) * 200000)
        self.assertEqual(message["members"], [
            dict(MEMBER, start=0, n=200000, prompt_n=200000,
                 prompt_digest=digest.hexdigest())])

    def wait_sent(self, feed, n):
        for _ in range(WAIT_S * 100):
            if feed.sent >= n:
                return
            time.sleep(0.01)
        self.fail("not sent")


class VllmRequestTest(unittest.TestCase):
    def test_ids_of_the_scheduler_become_those_of_the_answer(self):
        for engine_id, wanted in {
                "chatcmpl-8c755d0b7eb6d3c3-a0e4a742":
                    ("chatcmpl-8c755d0b7eb6d3c3", 0),
                "1_chatcmpl-b9851ad63c8a0af4-94d99eeb":
                    ("chatcmpl-b9851ad63c8a0af4", 1),
                "cmpl-a6498954855e4bbf-1-895ddbed":
                    ("cmpl-a6498954855e4bbf", 1),
                "2_cmpl-a6498954855e4bbf-1-895ddbed":
                    ("cmpl-a6498954855e4bbf", 65538),
                "resp_830e8fcabcb3ac12_0-b84657db":
                    ("resp_830e8fcabcb3ac12", 0),
                "generate-tokens-a822a520c6f56b18-81472032":
                    ("generate-tokens-a822a520c6f56b18", 0),
                "cmpl-my-own-1-0-895ddbed": ("cmpl-my-own-1", 0)}.items():
            with self.subTest(engine_id):
                self.assertEqual(assay_feed.vllm_request(engine_id), wanted)


if __name__ == "__main__":
    unittest.main()
