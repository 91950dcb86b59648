#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_llama_live.py BUILD - a real llama-server, tapped, drawn and replayed.

Comes in: the build directory. The server is built from its source package the
first time (llama_server.py). Every drawn request of an honest server must be a
MATCH with no differing bit, each planted cheat a MISMATCH of its class.
"""

import os
import sys
import tempfile
import unittest

import cheats
import clients
import llama_server
import scenario
from scenario import Scenario

BUILD = os.path.abspath(sys.argv.pop(1))
N = int(os.environ.get("LIVE_REQUESTS", "200"))


def judge(what, requests):
    return scenario.judge(BUILD, what, requests)


class Honest(unittest.TestCase):
    def check(self, what, n, route, level):
        """Every request a MATCH, by this route and level."""
        outcome = judge(what, clients.many(n))
        # A packet that the tap itself lost would be no fault of what follows.
        self.assertEqual(outcome.losses, {})
        self.assertEqual(len(outcome.verdicts), n)
        for v in outcome.verdicts:
            self.assertEqual(v["verdict"], "MATCH", v)
            self.assertEqual(v["logprobs_differ"], 0)
            self.assertEqual((v["route"], v["level"]), (route, level))
        self.assertGreater(sum(v["logprobs"] for v in outcome.verdicts), n)
        self.assertEqual(outcome.findings, [])

    def test_default_flags_and_a_feed(self):
        self.check(Scenario(llama_server.model("stories260k-f32")), N,
                   "replay", "plan")

    def test_q8_0_weights_from_http_alone(self):
        """No batch can change them: level invariant."""
        self.check(Scenario(llama_server.model("smollm2-135m-q8_0"),
                            ["-np", "4", "-c", "1024", "-ub", "32", "-cram",
                             "0"], False),
                   min(N, 40), "invariant", "")


class Hole(unittest.TestCase):
    """One message of the feed is lost: what came before is certified, what
    cannot be is counted as such, and nobody is accused."""

    def test_a_lost_message(self):
        outcome = judge(Scenario(llama_server.model("stories260k-f32"),
                                 told=cheats.without_message(250)),
                        clients.many(60))
        self.assertEqual(outcome.losses, {"feed_gap": 1})
        verdicts = [(v["verdict"], v["reason"], v["level"])
                    for v in outcome.verdicts]
        self.assertEqual(len(verdicts), 60)
        self.assertEqual(set(verdicts), {("MATCH", "", "plan"),
                                         ("UNCHECKABLE", "no_metadata", "")})
        # Those whose record came first ended first.
        before = verdicts.index(("UNCHECKABLE", "no_metadata", ""))
        self.assertGreater(before, 8)


class Cheats(unittest.TestCase):
    """Each is planted for six requests of three kinds: native and greedy,
    completion and chat with seeds."""

    requests = [clients.request(i) for i in (3, 9, 13, 19, 14, 20)]
    kinds = {"native": "llama.completion", "completion": "openai.completions",
             "chat": "openai.chat"}

    def check(self, what, classes, kinds=("native", "completion", "chat"),
              position=None):
        """All requests of these kinds differ, by one of the classes and first
        at this position; the others are as claimed."""
        apis = [self.kinds[k] for k in kinds]
        verdicts = judge(what, self.requests).verdicts
        self.assertEqual(len(verdicts), len(self.requests))
        for v in verdicts:
            if v["api"] not in apis:
                self.assertEqual(v["verdict"], "MATCH", v)
                continue
            self.assertEqual(v["verdict"], "MISMATCH", v)
            self.assertIn(v["class"], classes)
            self.assertLess(v["position"], v["tokens"])
            if position is not None:
                self.assertEqual(v["position"], position)

    def f32(self, **how):
        return Scenario(llama_server.model("stories260k-f32"), **how)

    def judge_altered(self, *what):
        """The outcome where altered weights are served."""
        with tempfile.TemporaryDirectory() as top:
            served = llama_server.altered(
                llama_server.model("stories260k-f32"),
                os.path.join(top, "altered.gguf"), *what)
            return judge(self.f32(served=served), self.requests)

    def test_other_weights(self):
        self.check(self.f32(served=llama_server.model("stories260k-q8_0")),
                   ("logprob", "token"), position=0)

    def test_one_weight_one_ulp_off(self):
        """Of an inner norm: one of a key or a value would be rounded away where
        the cache holds halves."""
        verdicts = self.judge_altered("ulp", "blk.0.ffn_norm.weight").verdicts
        # An answer that it did not move by a bit is as claimed.
        differ = [v for v in verdicts if v["verdict"] != "MATCH"]
        self.assertGreaterEqual(len(differ), 3, verdicts)
        for v in differ:
            self.assertEqual((v["verdict"], v["class"]),
                             ("MISMATCH", "logprob"))

    def test_a_fine_tuned_head(self):
        """So little that few tokens change, if any: every logprob does."""
        verdicts = self.judge_altered("head", "7", "0.0001").verdicts
        self.assertEqual(len(verdicts), len(self.requests))
        for v in verdicts:
            if v["logprobs"] == 0:  # of its tokens no more is known
                continue
            self.assertEqual((v["verdict"], v["class"], v["position"]),
                             ("MISMATCH", "logprob", 0), v)

    def test_another_seed(self):
        self.check(self.f32(request=cheats.changed(cheats.another_seed)),
                   ("token",), ("completion", "chat"))

    def test_a_lower_top_p(self):
        self.check(self.f32(request=cheats.changed(cheats.a_lower_top_p)),
                   ("token",), ("completion", "chat"))

    def test_an_answer_of_another_prompt(self):
        verdicts = judge(self.f32(answer=cheats.answer_from_a_cache()),
                         self.requests).verdicts
        differ = [v for v in verdicts if v["verdict"] != "MATCH"]
        self.assertEqual(len(differ), 1, verdicts)
        self.assertEqual(differ[0]["verdict"], "MISMATCH")
        self.assertEqual(differ[0]["api"], "llama.completion")
        self.assertIn(differ[0]["class"], ("logprob", "token"))
        self.assertEqual(differ[0]["position"], 0)

    def test_another_template(self):
        self.check(self.f32(served_flags=["--chat-template", "zephyr"]),
                   ("logprob", "token"), ("chat",), 0)

    def test_a_hidden_system_prompt(self):
        self.check(self.f32(
            request=cheats.changed(cheats.a_hidden_system_prompt)),
                   ("logprob", "token"), ("chat",), 0)

    def test_an_altered_token(self):
        self.check(self.f32(answer=cheats.alter_a_token), ("token",),
                   ("completion",), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
