#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_llama_live.py BUILD - a real llama-server, tapped, drawn and replayed.

Comes in: the build directory. The server is built from its source package the
first time (llama_server.py). Every drawn request of an honest server must be a
MATCH with no differing bit, each planted cheat a MISMATCH of its class.
"""

import concurrent.futures
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import appliance
import llama_server
import relay
from held_port import held_port

BUILD = os.path.abspath(sys.argv.pop(1))
READER = os.path.join(appliance.TREE, "tap", "plugins", "llama_log.py")
MODEL = "m"
OPENINGS = ["Once upon a time", "Lily and Tom", "The big dog", "One day, a",
            "There was a little", "In the park,", "A small bird", "Mom said"]


def request(i, stream=False):
    """Path and body of request i, one of every kind."""
    text = "%s %s" % (OPENINGS[i % 8], "and then %d " % i * (1 + i % 9))
    body = {"model": MODEL, "seed": 1000 + i, "stream": stream,
            "temperature": (0, 0.8, 1.1)[i % 3]}
    n = 12 + i % 21
    if i % 3 == 0:
        body.update(prompt=text, n_predict=n, n_probs=i % 5)
        return "/completion", body
    body.update(max_tokens=n)
    if i % 3 == 1:
        body.update(prompt=text, logprobs=1 + i % 4)
        return "/v1/completions", body
    body.update(messages=[{"role": "user", "content": text}], logprobs=True,
                top_logprobs=1 + i % 4)
    return "/v1/chat/completions", body


def curl(port, path, body):
    subprocess.run(["curl", "-sS", "-o", "/dev/null", "-H",
                    "Content-Type: application/json", "-d", "@-",
                    "http://127.0.0.1:%d%s" % (port, path)], check=True,
                   input=json.dumps(body).encode())


def send(port, requests, at_once=8):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(curl, port, *r) for r in requests]:
            done.result()


class Scenario:
    """What is declared, and what is served in its stead: another GGUF file,
    other flags, a relay that changes requests or answers."""

    def __init__(self, model, flags=(), feed=True, served=None,
                 served_flags=None, **relay):
        self.gguf, self.flags, self.feed = model, list(flags), feed
        self.served = served or model
        self.served_flags = self.flags if served_flags is None else served_flags
        self.relay = relay


def command(scenario, port, feed_port):
    server = [llama_server.binary("llama-server"), "-m", scenario.served, "-a",
              MODEL, "--host", "127.0.0.1", "--port", str(port),
              *scenario.served_flags]
    if not scenario.feed:
        return server
    return [sys.executable, READER, "--to", "http://127.0.0.1:%d" % feed_port,
            "--", *server]


def serve_and_judge(scenario, declared, requests):
    port, engine_port = held_port(), held_port()
    with appliance.Appliance(BUILD, declared, MODEL, port) as a:
        a.start()
        # The tap first: the feed's first message must find it.
        a.tap()
        a.spawn("engine", *command(
            scenario, engine_port if scenario.relay else port, a.feed_port))
        appliance.wait("the server", 120,
                       lambda: llama_server.is_up(a.log("engine")))
        front = scenario.relay and relay.Relay(port, engine_port,
                                               **scenario.relay)
        try:
            send(port, requests)
        finally:
            if front:
                front.close()
        appliance.wait("the record", 60,
                       lambda: a.recorded() >= len(requests))
        a.close_epoch(1800)
        return a.verdicts(), a.findings()


def judge(scenario, requests):
    """Verdicts, in the order of their record, and findings."""
    with tempfile.TemporaryDirectory() as top:
        declared = os.path.join(top, "declared")
        llama_server.deployment(declared, scenario.gguf, scenario.flags,
                                os.cpu_count())
        verdicts, findings = serve_and_judge(scenario, declared, requests)
    print(appliance.summary(verdicts), findings, flush=True)
    return verdicts, findings


class Honest(unittest.TestCase):
    def check(self, scenario, n, level):
        requests = [request(i, i % 2 == 1) for i in range(n)]
        verdicts, findings = judge(scenario, requests)
        self.assertEqual(len(verdicts), n)
        for v in verdicts:
            self.assertEqual(v["verdict"], "MATCH", v)
            self.assertEqual(v["logprobs_differ"], 0)
            self.assertEqual((v["route"], v["level"]), level)
        self.assertGreater(sum(v["logprobs"] for v in verdicts), n)
        self.assertEqual(findings, [])

    def test_default_flags_and_a_feed(self):
        self.check(Scenario(llama_server.model("stories260k-f32")), N,
                   ("replay", "plan"))


    def test_q8_0_weights_from_http_alone(self):
        """No batch can change them: level invariant."""
        self.check(Scenario(llama_server.model("smollm2-135m-q8_0"),
                            ["-np", "4", "-c", "1024", "-ub", "32", "-cram",
                             "0"], False),
                   min(N, 40), ("invariant", ""))


def one_ulp_off(path, to):
    """The file with one weight of an inner norm one ulp larger. (One of a key
    or a value would be rounded away where the cache holds halves.)"""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = llama_server.tensors(path)["blk.0.ffn_norm.weight"]
    bits = struct.unpack_from("<I", data, at)[0]
    struct.pack_into("<I", data, at, bits + 1)
    with open(to, "wb") as f:
        f.write(data)


def changed(change):
    """A relay's request: its body after change(body)."""
    def request(path, body):
        body = json.loads(body)
        change(body)
        return json.dumps(body).encode()
    return request


def another_seed(body):
    body["seed"] += 1


def a_lower_top_p(body):
    body["top_p"] = 0.1


def a_hidden_system_prompt(body):
    if "messages" in body:
        body["messages"].insert(0, {"role": "system", "content": "Be sad."})


def alter_a_token(path, body):
    """Token 3 of a completion's answer becomes another, its text with it."""
    if path != "/v1/completions":
        return body
    answer = json.loads(body)
    choice = answer["choices"][0]
    token = choice["logprobs"]["content"][3]
    token["id"] = token["id"] + 1 if token["id"] < 500 else 300
    return json.dumps(answer).encode()


class Cheats(unittest.TestCase):
    """Each is planted for six requests of three kinds: native and greedy,
    completion and chat with seeds."""

    requests = [request(i) for i in (3, 9, 13, 19, 14, 20)]
    kinds = {"native": "llama.completion", "completion": "openai.completions",
             "chat": "openai.chat"}

    def check(self, scenario, classes, kinds=("native", "completion", "chat"),
              position=None):
        """All requests of these kinds differ, by one of the classes; the others
        are as claimed."""
        apis = [self.kinds[k] for k in kinds]
        verdicts, _ = judge(scenario, self.requests)
        self.assertEqual(len(verdicts), len(self.requests))
        for v in verdicts:
            if v["api"] not in apis:
                self.assertEqual(v["verdict"], "MATCH", v)
                continue
            self.assertEqual(v["verdict"], "MISMATCH", v)
            self.assertIn(v["class"], classes)
            if position is not None:
                self.assertEqual(v["position"], position)

    def f32(self, **how):
        return Scenario(llama_server.model("stories260k-f32"), **how)

    def test_other_weights(self):
        self.check(self.f32(served=llama_server.model("stories260k-q8_0")),
                   ("logprob", "token"), position=0)

    def test_one_weight_one_ulp_off(self):
        with tempfile.TemporaryDirectory() as top:
            served = os.path.join(top, "off.gguf")
            one_ulp_off(llama_server.model("stories260k-f32"), served)
            verdicts, _ = judge(self.f32(served=served), self.requests)
        # An answer that it did not move by a bit is as claimed.
        differ = [v for v in verdicts if v["verdict"] != "MATCH"]
        self.assertGreaterEqual(len(differ), 3, verdicts)
        for v in differ:
            self.assertEqual((v["verdict"], v["class"]),
                             ("MISMATCH", "logprob"))

    def test_another_seed(self):
        self.check(self.f32(request=changed(another_seed)),
                   ("token",), ("completion", "chat"))

    def test_a_lower_top_p(self):
        self.check(self.f32(request=changed(a_lower_top_p)), ("token",),
                   ("completion", "chat"))

    def test_an_answer_of_another_prompt(self):
        kept = []

        def answer(path, body):
            if path == "/completion":
                kept.append(body)
                return kept[0]
            return body

        verdicts, _ = judge(self.f32(answer=answer), self.requests)
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
        self.check(self.f32(request=changed(a_hidden_system_prompt)),
                   ("logprob", "token"), ("chat",), 0)

    def test_an_altered_token(self):
        self.check(self.f32(answer=alter_a_token), ("token",), ("completion",),
                   3)


N = int(os.environ.get("LIVE_REQUESTS", "200"))

if __name__ == "__main__":
    unittest.main(verbosity=2)
