#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_echo.py BUILD WORKER GGUF - an engine that is one file and one line of
the table (echo.c, engines.c) goes the whole path: its model is registered, its
feed and its answers are tapped, drawn, run again and compared, and the page
shows what did not reproduce. A model beside it that no recipe covers any more
keeps nothing from it.
"""

import http.client
import http.server
import json
import os
import re
import struct
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "engines"))
from appliance import Appliance, wait  # noqa: E402
from held_port import held_port  # noqa: E402

BUILD, WORKER, GGUF = (os.path.abspath(a) for a in sys.argv[1:4])
ADD, OTHER, BATCH, TOKENS, ANSWERS = 7, 9, 3, 12, 9
ALTERED, REPLACED = 4, 6  # answers that are not honest


def prompt(i):
    return "echo, number %d" % i


def answer(i, add=ADD):
    """What the engine says; echo.c computes the same."""
    ids = [(ord(prompt(i)[k % len(prompt(i))]) + add + BATCH) % 26
           for k in range(TOKENS)]
    if i == ALTERED:
        ids[5] = (ids[5] + 1) % 26
    tokens = [chr(ord("a") + t) for t in ids]
    logprobs = [struct.unpack("f", struct.pack("f", -(t + 1) / 7))[0]
                for t in ids]
    return {
        "id": "cmpl-%d" % i, "object": "text_completion", "model": "echo",
        "choices": [{"index": 0, "text": "".join(tokens),
                     "finish_reason": "length", "logprobs": {
                         "tokens": tokens, "token_logprobs": logprobs,
                         "top_logprobs": [{t: p} for t, p in
                                          zip(tokens, logprobs)]}}],
        "usage": {"prompt_tokens": len(prompt(i)), "completion_tokens": TOKENS,
                  "total_tokens": len(prompt(i)) + TOKENS}}


class Engine(http.server.BaseHTTPRequestHandler):
    """Answers by the number in the prompt."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        i = int(body["prompt"].rsplit(" ", 1)[1])
        said = answer(i, OTHER if i == REPLACED else ADD)
        said["model"] = body["model"]
        said = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


def post(port, target, body):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        c.request("POST", target, body, {"Content-Type": "application/json"})
        answered = c.getresponse()
        answered.read()
        return answered.status
    finally:
        c.close()


def step(seq, first):
    """The batch of BATCH answers from the first on, in one pass."""
    return json.dumps({
        "assay": "batch-step/1", "engine": "echo", "feed": "f", "seq": seq,
        "step": seq, "time_ns": str(time.time_ns()), "padded": 0,
        "members": [{"id": "cmpl-%d" % i, "choice": 0, "start": 0,
                     "n": len(prompt(i)) + TOKENS - 1, "cached": 0,
                     "prompt": list(prompt(i).encode()), "params": {}}
                    for i in range(first, first + BATCH)]}) + "\n"


class Beside(Appliance):
    """With a llama.cpp model that was registered and then upgraded to a build
    that no recipe covers."""

    worker = WORKER

    def __init__(self, port):
        super().__init__(BUILD, None, "echo", port)
        self.declared = os.path.join(self.top, "echo")
        os.mkdir(self.declared)
        with open(self.declared + "/echo.json", "w", encoding="utf-8") as f:
            json.dump({"add": ADD, "others": [5, OTHER]}, f)
        self.others = [os.path.join(self.top, "llama")]
        os.mkdir(self.others[0])
        os.symlink(GGUF, self.others[0] + "/model.gguf")

    def declare(self, build):
        with open(self.others[0] + "/engine.json", "w", encoding="utf-8") as f:
            json.dump({"engine": "llama.cpp", "build": build,
                       "machine": {"isa": "AVX2"},
                       "command": "llama-server -np 1"}, f)

    def register(self, model, directory):
        super().register(model, directory)
        self.declare("b11434 (ggml 0.26.0)")
        super().register("llama", self.others[0])
        self.declare("b99999")

    def page(self, path):
        """What assay.cgi makes of it: status and body."""
        out = subprocess.run(
            [os.path.join(BUILD, "web", "assay.cgi")], check=True, text=True,
            stdout=subprocess.PIPE, env={
                "GATEWAY_INTERFACE": "CGI/1.1", "REQUEST_METHOD": "GET",
                "SCRIPT_NAME": "/assay", "PATH_INFO": path,
                "QUERY_STRING": "", "ASSAY_CONF": self.conf}).stdout
        head, body = re.split(r"\r?\n\r?\n", out, maxsplit=1)
        return head, body


class Echo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = held_port()
        engine = http.server.ThreadingHTTPServer(("127.0.0.1", port), Engine)
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        cls.addClassCleanup(engine.server_close)
        cls.addClassCleanup(engine.shutdown)
        cls.a = cls.enterClassContext(Beside(port))
        cls.a.start()
        cls.a.tap()
        for i in range(ANSWERS):
            assert cls.ask(port, i) == 200
        assert cls.ask(port, ANSWERS, "llama") == 200
        for seq in range(ANSWERS // BATCH):
            assert post(cls.a.feed_port, "/assay/v1/steps",
                        step(seq, seq * BATCH)) == 204
        wait("the record", 60, lambda: cls.a.recorded() == ANSWERS + 1)
        cls.a.close_epoch()
        wait("what mismatches were tried with", 60, lambda: cls.a.query(
            "SELECT count(*) FROM reproduced") == [(2,)])

    @staticmethod
    def ask(port, i, model="echo"):
        return post(port, "/v1/completions", json.dumps({
            "model": model, "prompt": prompt(i), "max_tokens": TOKENS,
            "logprobs": 1}))

    def verdict(self, i):
        return self.a.query(
            "SELECT v.verdict,v.class,v.reason,v.route,v.level,v.tokens,"
            "v.logprobs,v.position FROM verdict v JOIN exchange x ON "
            "x.unit=v.object WHERE x.api_id=?", "cmpl-%d" % i)

    def test_what_it_said_reproduces(self):
        for i in set(range(ANSWERS)) - {ALTERED, REPLACED}:
            row, = self.verdict(i)
            self.assertEqual(row[:-1], ("MATCH", "", "", "replay", "plan",
                                        TOKENS, 2 * TOKENS))

    def test_what_it_did_not_say_is_a_mismatch(self):
        for i, position in ((ALTERED, 5), (REPLACED, 0)):
            row, = self.verdict(i)
            self.assertEqual(row[:3], ("MISMATCH", "token", ""))
            self.assertEqual(row[-1], position)

    def test_an_alternative_that_gives_the_answer_is_named(self):
        self.assertEqual(dict(self.a.query(
            "SELECT x.api_id,r.by||'/'||r.detail FROM reproduced r JOIN "
            "exchange x ON x.unit=r.object")), {
                "cmpl-%d" % ALTERED: "/2 alternatives tried",
                "cmpl-%d" % REPLACED: "add %d, declared %d/" % (OTHER, ADD)})

    def test_its_manifest_says_what_a_job_needs(self):
        self.assertEqual(self.a.query(
            "SELECT numerics,recipe,needs FROM manifest WHERE model='echo'"),
                         [("echo", "", "feed again")])

    def test_its_feed_and_its_answers_agree(self):
        self.assertEqual(self.a.query(
            "SELECT class FROM finding f JOIN exchange x ON x.unit=f.object "
            "WHERE x.model='echo'"), [])
        self.assertEqual(self.a.losses(), {})

    def test_the_page_shows_what_did_not_reproduce(self):
        listed = self.a.page("/mismatches")[1]
        for i, words in ((ALTERED, "2 alternatives tried"),
                         (REPLACED, "add %d, declared %d" % (OTHER, ADD))):
            unit, = self.a.query("SELECT lower(hex(unit)) FROM exchange WHERE "
                                 "api_id=?", "cmpl-%d" % i)[0]
            self.assertIn("/m/" + unit, listed)
            head, body = self.a.page("/m/" + unit)
            self.assertIn("200", head)
            self.assertIn(words, body)

    def test_a_model_without_a_recipe_is_uncheckable(self):
        row, = self.verdict(ANSWERS)
        self.assertEqual(row[:3], ("UNCHECKABLE", "", "no_recipe"))
        with open(self.a.log("recompute"), encoding="utf-8") as f:
            self.assertIn('no recipe covers llama.cpp build "b99999"',
                          f.read())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
