#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_llama_search.py BUILD - a real llama-server of BF16 weights, tapped,
drawn and searched for from HTTP alone.

Comes in: the build directory. Every drawn request of an honest server must be a
MATCH at the level search with no differing bit. The weights of 8 bits in its
stead are a MISMATCH that is reproduced by them, since they are declared as an
alternative; and so is a server of another build than declared.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import appliance
import clients
import llama_server
import scenario
from held_port import held_port

BUILD = os.path.abspath(sys.argv.pop(1))
N = int(os.environ.get("SEARCH_REQUESTS", "40"))

# Distinct beginnings: the first requests of each slot have nothing cached.
OPENINGS = ["The capital of France", "My sister writes", "In winter the sea",
            "Bread needs flour", "Nobody saw how", "Seven old trains",
            "A proof begins", "Green lamps hung"]
QUESTIONS = ["Name a river.", "What is rain?", "Say a rhyme.", "Count to four.",
             "Who was Ada?", "Why is it dark?", "Give me a verb.", "Is 7 odd?"]


def request(i, stream=False):
    """Path and body of request i: native, completions and chat, greedy and
    drawn, with logprobs; one in eight has neither these nor ids."""
    body = {"model": clients.MODEL, "seed": 3000 + i, "stream": stream,
            "temperature": (0, 0.7, 1.0)[i % 3]}
    n = 6 + i % 11
    text = "%s%s" % (OPENINGS[i % 8], ", as told in line %d," % i * (i % 5))
    if i % 4 == 0:
        body.update(prompt=text, n_predict=n, n_probs=1 + i % 4,
                    return_tokens=True)
        return "/completion", body
    body.update(max_tokens=n)
    if i % 4 in (1, 2):
        body.update(prompt=text, logprobs=1 + i % 4)
        return "/v1/completions", body
    body.update(messages=[{"role": "user", "content": QUESTIONS[i // 4 % 8]}])
    if i % 8 == 3:
        body.update(logprobs=True, top_logprobs=1 + i % 5)
    else:
        body.update(stream=False) # which counts its tokens
    return "/v1/chat/completions", body


def silent_requests():
    """Sent one at a time, of prompts that no other has begun with. One tells
    its tokens, two only texts."""
    return [("/completion", {"prompt": "Quietly, the", "n_predict": 8,
                             "temperature": 0, "return_tokens": True}),
            ("/v1/completions", {"prompt": "Below decks", "max_tokens": 8,
                                 "temperature": 0}),
            ("/v1/completions", {"prompt": "1, 2, 3,", "max_tokens": 8,
                                 "seed": 9})]


FLAGS = ["-np", "4", "-c", "1024", "-cram", "0"]


class Declared(scenario.Scenario):
    """With alternatives beside the weights; build: another one than served."""

    def __init__(self, model, alternatives=(), change=None, **how):
        super().__init__(llama_server.model(model), FLAGS, False, **how)
        self.alternatives, self.change = alternatives, change

    def write(self, directory):
        llama_server.deployment(directory, self.gguf, self.flags,
                                os.cpu_count())
        path = os.path.join(directory, "engine.json")
        with open(path, encoding="utf-8") as f:
            engine = json.load(f)
        engine["alternatives"] = [llama_server.model(name)
                                  for name in self.alternatives]
        if self.change:
            self.change(engine)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(engine, f)


def serve(what, requests, judged, alone=()):
    """Serves and judges; judged(appliance) looks at what came of it. alone:
    requests that are sent after the others, one by one."""
    with tempfile.TemporaryDirectory() as top:
        declared = os.path.join(top, "declared")
        what.write(declared)
        with appliance.Appliance(BUILD, declared, clients.MODEL,
                                 held_port()) as a:
            a.start()
            a.tap()
            engine = a.spawn("engine", *scenario.command(what, a.port,
                                                         a.feed_port))
            appliance.wait("the server", 600, lambda: llama_server.is_up(
                a.log("engine"), engine))
            clients.send(a.port, requests)
            for one in alone:
                clients.send(a.port, [one])
            appliance.wait("the record", 600, lambda: a.recorded() >=
                           len(requests) + len(alone))
            a.stop(engine)
            a.close_epoch(3600)
            judged(a)


class Searched(unittest.TestCase):
    def test_bf16_weights_from_http_alone(self):
        requests = [request(i, i % 2 == 1) for i in range(N)]

        alone = silent_requests()

        def judged(a):
            verdicts = a.verdicts()
            print(appliance.summary(verdicts), flush=True)
            found = a.query("SELECT evidence_bits,forward_runs,logprobs,detail "
                            "FROM verdict")
            print(found, flush=True)
            self.assertEqual(len(verdicts), N + len(alone))
            for v in verdicts:
                self.assertEqual(v["verdict"], "MATCH", v)
                self.assertEqual(v["logprobs_differ"], 0)
                self.assertEqual((v["route"], v["level"]),
                                 ("search", "search"))
            for bits, runs, logprobs, detail in found:
                self.assertGreater(runs, 0)
                self.assertEqual(logprobs == 0, bits == 0, found)
                self.assertEqual(logprobs == 0, "without" in detail, detail)
            self.assertEqual(sum(f[2] == 0 for f in found),
                             len(alone) + len(range(7, N, 8)))
            self.assertGreater(sum(f[0] for f in found), 20 * N)
            self.replay_elsewhere(a)

        serve(Declared("smollm2-135m-bf16"), requests, judged, alone)

    def replay_elsewhere(self, a):
        """A packet and the weights are all that is needed."""
        jobs = os.path.join(a.top, "state", "jobs")
        name = sorted(os.listdir(jobs))[0]
        elsewhere = os.path.join(a.top, "elsewhere")
        os.mkdir(elsewhere)
        shutil.copy(os.path.join(jobs, name), elsewhere)
        out = json.loads(subprocess.run(
            [BUILD + "/recompute/assay-recompute", "-c", a.conf, "replay",
             os.path.join(elsewhere, name)], check=True,
            stdout=subprocess.PIPE).stdout)
        self.assertEqual((out["status"], out["level"]), ("ok", "search"))
        results = os.path.join(a.top, "state", "results")
        with open(os.path.join(results, name.replace(
                ".job", "-1.result")), encoding="utf-8") as f:
            before = json.load(f)
        for key in ("choices", "forward_runs", "route", "unit", "manifest"):
            self.assertEqual(out[key], before[key])


class Reproduced(unittest.TestCase):
    """Requests of three kinds; the later chat takes its beginning from the
    cache that the earlier one left, or computes it beside it."""

    requests = [request(i) for i in (0, 1, 2, 3, 11)]

    def check(self, what, by):
        def judged(a):
            verdicts = a.verdicts()
            print(appliance.summary(verdicts), flush=True)
            for v in verdicts:
                self.assertEqual((v["verdict"], v["level"]),
                                 ("MISMATCH", "search"), v)
                self.assertIn(v["class"], ("logprob", "token"))
            appliance.wait("what reproduces them", 3600, lambda: a.query(
                "SELECT count(*) FROM reproduced")[0][0] >= len(verdicts))
            found = a.query("SELECT \"by\",detail,evidence_bits FROM reproduced")
            print(found, flush=True)
            for words, _, bits in found:
                self.assertRegex(words, "^%s$" % by)
                self.assertGreater(bits, 20)
            self.page(a)

        serve(what, self.requests, judged)

    def page(self, a):
        """What the page shows for one of them."""
        unit, words = a.query("SELECT lower(hex(object)),\"by\" FROM "
                              "reproduced LIMIT 1")[0]
        page = subprocess.run(
            [BUILD + "/web/assay.cgi"], check=True, text=True,
            stdout=subprocess.PIPE, env=dict(
                os.environ, ASSAY_CONF=a.conf, REQUEST_METHOD="GET",
                PATH_INFO="/m/" + unit, SCRIPT_NAME="", QUERY_STRING="",
                REMOTE_USER="live", GATEWAY_INTERFACE="CGI/1.1")).stdout
        self.assertIn("Reproduced by <b>%s</b>" % words, page)
        self.assertIn("MISMATCH", page)

    def test_weights_of_8_bits_for_bf16(self):
        self.check(Declared("smollm2-135m-bf16", ["smollm2-135m-q8_0"],
                            served=llama_server.model("smollm2-135m-q8_0")),
                   "Q8_0 weights, declared BF16")

    def test_a_build_of_another_class_than_declared(self):
        def older(engine):
            engine["build"] = "2026-05-02 commit 173442644 (ggml 0.10.1)"

        self.check(Declared("smollm2-135m-bf16", change=older),
                   r"recipe llama\.cpp-b11434 \(([a-z0-9-]+)\), declared "
                   r"llama\.cpp-2026-05 \(\1\)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
