#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_plan_jobs.py ASSAY_RECOMPUTE RECORDINGS - job packets that carry a feed of
llama.cpp: equal prompts, and feeds with holes.

The feed is that of an engine which chooses what assay-recompute itself chooses:
that this is what llama-server does is proven elsewhere (tests/engines).
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "engines"))
import llama_server  # noqa: E402

PROGRAM, RECORDINGS = (os.path.abspath(a) for a in sys.argv[1:3])
IDS = [1, 403, 407, 261, 378]
T = 1764417600 * 10**9
S = 10**9
N = 8  # tokens, and messages of each request


def request(seed, prompt="Once upon a time"):
    return {"model": "m", "prompt": prompt, "max_tokens": N, "seed": seed,
            "temperature": 2.5, "top_p": 1, "logprobs": 2}


def base(value):
    return base64.b64encode(json.dumps(value).encode()).decode()


class Feed:
    """Messages of an engine; those given up are not in the packets."""

    def __init__(self, run):
        self.run, self.messages, self.lost = run, [], set()

    def tell(self, ns, member, ops=()):
        self.messages.append({
            "assay": "batch-step/1", "engine": "e", "feed": "f",
            "names": "engine", "seq": len(self.messages), "step": 0, "time_ns": str(ns),
            "padded": 0, "members": [member], "ops": list(ops)})

    def serve(self, task, slot, body, ns, ops, ids=tuple(IDS), cached=0,
              chosen=None):
        """The engine runs a request alone, a pass each millisecond. It chooses
        what assay-recompute does, or these."""
        member = {"id": "task:%d" % task, "choice": 0, "start": cached,
                  "n": len(ids) - cached, "cached": cached,
                  "ids": ids[cached:], "prompt": ids, "params": {"slot": slot}}
        self.tell(ns, member, ops)
        for i in range(N - 1):
            last = (chosen[i] if chosen else
                    self.answer(dict(body, max_tokens=i + 1), ns)[-1][0])
            ns += 10**6
            self.tell(ns, {"id": "task:%d" % task, "choice": 0,
                           "start": len(ids) + i, "n": 1, "cached": 0,
                           "ids": [last]})

    def answer(self, body, ns):
        """Ids and logprobs, or the reason why not."""
        answers = self.answers(body, ns)
        return answers if isinstance(answers, str) else answers[0][0]

    def answers(self, body, ns):
        """Those of all candidates, and whether there may be more; or the reason
        why not."""
        result = self.run_job(body, ns)
        if result["status"] != "ok":
            return result["reason"]
        assert {c["index"] for c in result["choices"]} == {0}, result
        return [[(t["id"], t["logprob"], t["top"]) for t in c["tokens"]]
                for c in result["choices"]], result["more"]

    def run_job(self, body, ns):
        return self.run({
            "schema": "assay.job/1", "epoch": 1, "unit": "a5" * 32,
            "nonce": "5a" * 16, "mode": "blind", "runs": 2,
            "api": "openai.completions", "request": base(body),
            "request_ns": str(ns), "model": "m", "manifest": None,
            "steps": [], "claimed": None,
            "messages": [base(m) for m in self.messages
                         if m["seq"] not in self.lost]})


class PlanJobs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = scratch.name
        with open(self.top + "/conf", "w", encoding="utf-8") as f:
            f.write('origin = "o.example/t";\nrecompute: { recipes = "%s"; };'
                    % os.path.join(HERE, "..", "..", "..", "config", "recipes"))

    def feed(self, *flags):
        """Of an engine that serves with these flags."""
        declared = os.path.join(self.top, "declared")
        llama_server.deployment(
            declared, os.path.join(RECORDINGS, "llama.cpp", "libllama",
                                   "s260k-f32.gguf"),
            list(flags), 1, "AVX-512, AVX512_BF16")

        def run(job):
            path = os.path.join(self.top, "x.job")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(job, f)
            done = subprocess.run(
                [PROGRAM, "-c", self.top + "/conf", "replay", path,
                 "--against", declared], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, check=False, text=True)
            self.assertIn(done.returncode, (0, 6), done.stderr)
            result = json.loads(done.stdout)
            if done.returncode == 0:
                self.assertEqual(result["level"], "plan")
            return result

        return Feed(run)

    def two(self, *flags, ops=("R 1 0",)):
        """Two requests of one prompt, and another between them."""
        feed = self.feed(*flags)
        feed.serve(0, 0, request(4), T, ["R 0 0"])
        feed.serve(1, 1, request(9, "Once upon"), T + S, ops, IDS[:3])
        feed.serve(2, 1, request(5), T + 2 * S, ops)
        answers = [feed.answer(request(4), T),
                   feed.answer(request(5), T + 2 * S)]
        self.assertEqual([len(a) for a in answers], [N, N])
        self.assertNotEqual([t[0] for t in answers[0]],
                            [t[0] for t in answers[1]])
        return feed, answers

    def test_a_prompt_asked_twice_gives_each_its_own(self):
        """Though the other one's turn began nearer to the request."""
        feed, (first, second) = self.two("-np", "2")
        self.assertEqual(feed.answer(request(4), T + 2 * S), first)
        self.assertEqual(feed.answer(request(5), T), second)

    def test_what_neither_turn_is_follows_the_nearest(self):
        """Another seed than was run: it differs where that turn does."""
        feed, (first, _) = self.two("-np", "2")
        other = feed.answer(request(6), T)
        n = next(i for i, t in enumerate(other) if t[0] != first[i][0])
        self.assertEqual(other[:n], first[:n])
        self.assertEqual(len(other), n + 1)

    def test_as_many_equal_prompts_as_there_are_each_get_their_own(self):
        """However many others began nearer to the request."""
        bodies = [dict(request(i), min_p=0) for i in range(12)]
        feed = self.feed("-np", "2")
        for i, body in enumerate(bodies):
            feed.serve(i, 0, body, T + i * S, ["R 0 0"])
        own = [feed.answers(body, T + 12 * S) for body in bodies]
        self.assertEqual([(len(a), len(a[0]), more) for a, more in own],
                         [(1, N, False)] * 12)
        self.assertEqual(len({str(a) for a, _ in own}), 12)
        self.assertEqual(own, [feed.answers(body, T) for body in bodies])

    def test_a_choice_that_ends_with_its_first_token_feeds_none(self):
        """It shares the row of the prompt, and the feed does not name it."""
        feed = self.feed("-np", "2")
        body = dict(request(4), max_tokens=1, n=2)
        first = {"id": "task:0", "choice": 0, "start": 0, "n": 5, "cached": 0,
                 "ids": IDS, "prompt": IDS, "params": {"slot": 1}}
        feed.tell(T, first, ["R 1 0"])
        feed.serve(1, 1, request(9, "Once upon"), T + S, ["R 1 0"], IDS[:3])
        result = feed.run_job(body, T)
        self.assertEqual([(c["index"], len(c["tokens"]), c["finish"])
                          for c in result["choices"]],
                         [(0, 1, "length"), (1, 1, "length")])
        ids = [c["tokens"][0]["id"] for c in result["choices"]]
        for i in range(2):  # each as with its seed alone
            alone = feed.answer(dict(body, n=1, seed=4 + i), T)
            self.assertEqual(alone[0][0], ids[i])
        longer = feed.run_job(dict(body, max_tokens=2), T)
        self.assertEqual([c["finish"] for c in longer["choices"]], ["", ""])

    def greedy(self):
        """The same request twice: a part of the second one's prompt is cached,
        and its bits are others. The answer to each."""
        feed = self.feed("-np", "2")
        body = dict(request(0), temperature=0)
        feed.serve(0, 0, body, T, ["R 0 0"])
        first = feed.answer(body, T)
        feed.serve(1, 0, body, T + S, ["R 0 4"], cached=4,
                   chosen=[t[0] for t in first])
        feed.serve(2, 0, request(7, "Once upon"), T + 2 * S, ["R 0 0"],
                   IDS[:3])
        return feed, body, first

    def test_what_differs_in_bits_alone_is_listed(self):
        feed, body, first = self.greedy()
        near, more = feed.answers(body, T)
        self.assertEqual((len(near), near[0], more), (2, first, False))
        self.assertEqual([t[0] for t in near[1]], [t[0] for t in first])
        self.assertNotEqual(near[1], first)
        far, more = feed.answers(body, T + S)
        self.assertEqual((far, more), (near[::-1], False))

    def test_what_does_not_differ_is_listed_once(self):
        feed = self.feed("-np", "2")
        body = dict(request(0), temperature=0)
        for i in range(3):
            feed.serve(i, 0, body, T + i * S, ["R 0 0"])
        answers, more = feed.answers(body, T)
        self.assertEqual((len(answers), more), (1, False))

    def test_one_that_a_hole_cuts_may_be_another(self):
        """The hole is farther from the request than the one that is told."""
        feed, body, first = self.greedy()
        feed.lost = {2 * N - 2}
        self.assertEqual(feed.answers(body, T), ([first], True))
        feed.lost = {2 * N + 2}  # after its end
        self.assertEqual(len(feed.answers(body, T)[0]), 2)

    def test_a_hole_costs_what_lies_in_it(self):
        feed, answers = self.two("-np", "2")
        for lost, left in (({1}, [1]), ({N - 1}, [1]), ({0, 1, 2}, [1]),
                           ({N + 1}, [0]), ({2 * N}, [0]),
                           ({3 * N - 1}, [0])):
            feed.lost = lost
            for i, ns in enumerate((T, T + 2 * S)):
                self.assertEqual(feed.answer(request(4 + i), ns),
                                 answers[i] if i in left else "no_metadata",
                                 (lost, i))

    def test_a_turn_that_was_over_is_no_hole(self):
        """An answer longer than what the engine ran is not hidden by that."""
        feed, (first, _) = self.two("-np", "2")
        longer = dict(request(4), max_tokens=N + 1)
        self.assertEqual(feed.answer(longer, T), "no_metadata")
        feed.serve(3, 0, request(7, "Once upon"), T + 3 * S, ["R 0 0"],
                   IDS[:3])
        self.assertEqual(feed.answer(longer, T), first)

    def test_a_slot_that_is_not_emptied_stays_unknown(self):
        feed, answers = self.two("-np", "2", ops=())
        feed.lost = {1}
        self.assertEqual(feed.answer(request(5), T + 2 * S), "no_metadata")
        feed.lost = {2 * N + 1}
        self.assertEqual(feed.answer(request(4), T), answers[0])

    def test_a_unified_cache_must_be_empty(self):
        feed, answers = self.two(ops=("R 1 0",))
        feed.lost = {1}
        self.assertEqual(feed.answer(request(5), T + 2 * S), "no_metadata")
        feed.lost = {2 * N + 1}
        self.assertEqual(feed.answer(request(4), T), answers[0])

    def test_a_unified_cache_that_was_emptied_is_known(self):
        feed, answers = self.two(ops=["R %d 0" % i for i in range(4)])
        feed.lost = {1}
        self.assertEqual(feed.answer(request(5), T + 2 * S), answers[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
