#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every recorded exchange, drawn: a job packet of mode search is a MATCH.

usage: test_search_jobs.py SEARCH_JOBS CAPTURES

What cannot be one is named below, with its reason. Then the same with one
thing changed: a MISMATCH with its place, never a match; and never a MISMATCH
where the packet lacks what ran beside it.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CAPTURES = sys.argv.pop(1), sys.argv.pop(1)
LIBRARY = os.path.join(os.path.abspath(CAPTURES), "llama.cpp", "libllama")
OLD, NEW = "llama.cpp/", "llama.cpp-b11434/"
KEYS = ("name", "verdict", "class", "reason", "level", "position", "tokens",
        "logprobs", "differ", "bits", "runs", "envelope", "detail")

# Errors, an answer cut off, and requests with tools or formats.
REASONS = {
    NEW + "edge-bf16-np4": {
        "error_answer": {"e03", "e04", "e31", "o10"},
        "unsupported_parameter": {"e09", "e10", "e16", "e17", "e20"},
        "unseeded": {"e30"}, "incomplete": {"x_disc"}},
}


def declared(top, folder, model=None):
    """A directory that declares the server of a folder."""
    with open(os.path.join(folder, "engine.json"), encoding="utf-8") as f:
        model = model or json.load(f)["model"]
    path = os.path.join(folder, model)
    if not os.path.exists(path):
        path = os.path.join(LIBRARY, model)
    os.symlink(os.path.abspath(path), os.path.join(top, "model.gguf"))
    os.symlink(os.path.abspath(os.path.join(folder, "engine.json")),
               os.path.join(top, "engine.json"))
    return top


def judge(folder, *left_out, model=None):
    """Verdicts by request."""
    with tempfile.TemporaryDirectory() as top:
        out = subprocess.run([PROGRAM, folder, declared(top, folder, model),
                              *left_out], check=True, text=True,
                             stdout=subprocess.PIPE, timeout=900).stdout
    print(out, flush=True)
    rows = [dict(zip(KEYS, line.split(" ", len(KEYS) - 1)))
            for line in out.splitlines()]
    return {row["name"]: row for row in rows}


def altered(top, folder, name, change):
    """The folder, its answer `name` after change(text)."""
    for file in os.listdir(folder):
        path = os.path.join(folder, file)
        if not file.endswith((".req", ".resp")) and file != "engine.json":
            continue
        with open(path, encoding="utf-8", newline="") as f:
            text = f.read()
        if file == name + ".resp":
            text = change(text)
        with open(os.path.join(top, file), "w", encoding="utf-8",
                  newline="") as f:
            f.write(text)
    return top


def one_ulp(at):
    """A change of logprob number `at` in the text."""
    def change(text):
        m = list(re.finditer(r'"logprob":(-[0-9.]+)', text))[at]
        bits, = struct.unpack(">I", struct.pack(">f", float(m[1])))
        value, = struct.unpack(">f", struct.pack(">I", bits + 1))
        return text[:m.start(1)] + repr(value) + text[m.end(1):]
    return change


class Recorded(unittest.TestCase):
    def check(self, name, *left_out):
        reasons = {one: reason for reason, ones in
                   REASONS.get(name, {}).items() for one in ones}
        verdicts = judge(os.path.join(CAPTURES, name), *left_out)
        self.assertGreater(len(verdicts), 5)
        for one, v in verdicts.items():
            if one in reasons:
                self.assertEqual((v["verdict"], v["reason"]),
                                 ("UNCHECKABLE", reasons[one]), v)
            else:
                self.assertEqual((v["verdict"], v["differ"], v["level"]),
                                 ("MATCH", "0", "search"), v)
                self.assertGreater(int(v["runs"]), 0)
        self.assertGreater(sum(int(v["bits"]) for v in verdicts.values()),
                           1000)

    def test_the_older_version(self):
        self.check(OLD + "syn-bf16-np4")

    def test_the_newer_version(self):
        self.check(NEW + "conc-bf16-np4")

    def test_every_kind_of_request(self):
        self.check(NEW + "edge-bf16-np4")

    def test_what_is_found_needs_nothing_that_is_left_out(self):
        self.check(NEW + "conc-bf16-np4", "1")


def silenced(top, folder, names, without):
    """The folder, these answers without logprobs and without those keys; what
    the requests asked for is changed to that."""
    def change(text):
        answer = json.loads(text)
        for key in ("completion_probabilities", *without):
            del answer[key]
        return json.dumps(answer)

    for name in names:
        altered(top, folder, name, change)
        folder = top
        path = os.path.join(top, name + ".req")
        with open(path, encoding="utf-8") as f:
            method, target, body = f.read().split(" ", 2)
        body = json.loads(body)
        body.update(n_probs=0, return_tokens="tokens" not in without)
        with open(path, "w", encoding="utf-8") as f:
            f.write(" ".join((method, target, json.dumps(body))))


class Silent(unittest.TestCase):
    """Answers that ran beside others and have no logprobs: their batches are
    found by the tokens that would be chosen under them."""

    folder = os.path.join(CAPTURES, NEW + "conc-bf16-np4")
    names = ["a0", "b1", "b3", "b4"]

    def judge(self, without, change=None):
        with tempfile.TemporaryDirectory() as top:
            os.symlink(os.path.join(LIBRARY, "s260k-bf16.gguf"),
                       os.path.join(top, "s260k-bf16.gguf"))
            silenced(top, self.folder, self.names, without)
            if change:
                altered(top, top, "b3", change)
            return judge(top)

    def check(self, without):
        verdicts = self.judge(without)
        for v in verdicts.values():
            self.assertEqual((v["verdict"], v["level"]), ("MATCH", "search"),
                             v)
            self.assertEqual(v["name"] in self.names, v["logprobs"] == "0")
            self.assertEqual(v["name"] in self.names, v["bits"] == "0")

    def test_with_the_ids_of_their_tokens(self):
        self.check(())

    def test_with_their_text_alone(self):
        self.check(("tokens",))

    def test_another_token_is_no_match(self):
        def change(text):
            answer = json.loads(text)
            answer["tokens"][2] += 1
            return json.dumps(answer)

        v = self.judge((), change)["b3"]
        self.assertEqual((v["verdict"], v["class"], v["position"]),
                         ("MISMATCH", "token", "2"), v)

    def test_another_word_is_no_match(self):
        def change(text):
            answer = json.loads(text)
            answer["content"] = answer["content"].replace(" the ", " a ", 1)
            return json.dumps(answer)

        v = self.judge(("tokens",), change)["b3"]
        self.assertEqual((v["verdict"], v["reason"]),
                         ("UNCHECKABLE", "search_undecided"), v)


class Changed(unittest.TestCase):
    folder = os.path.join(CAPTURES, NEW + "conc-bf16-np4")

    def test_one_ulp_in_one_logprob(self):
        with tempfile.TemporaryDirectory() as top:
            os.symlink(os.path.join(LIBRARY, "s260k-bf16.gguf"),
                       os.path.join(top, "s260k-bf16.gguf"))
            # Each position has its own and three alternatives.
            altered(top, self.folder, "a0", one_ulp(4 * 2))
            v = judge(top)["a0"]
            self.assertEqual(
                (v["verdict"], v["class"], v["position"], v["level"]),
                ("MISMATCH", "logprob", "2", "search"), v)
            self.assertGreater(int(v["bits"]), 5)
            v = judge(top, "1")["a0"]
            self.assertEqual((v["verdict"], v["reason"]),
                             ("UNCHECKABLE", "search_undecided"), v)
            self.assertIn("beside", v["detail"])

    def test_other_weights(self):
        verdicts = judge(self.folder, model="s260k-q8_0.gguf")
        self.assertGreater(len(verdicts), 5)
        for v in verdicts.values(): # with and without a cached prefix
            self.assertEqual((v["verdict"], v["position"], v["level"]),
                             ("MISMATCH", "0", "search"), v)


def redeclared(top, folder, model, alternatives=(), isa=None):
    """A directory that declares other weights or instructions than those that
    the folder's server had."""
    with open(os.path.join(folder, "engine.json"), encoding="utf-8") as f:
        engine = json.load(f)
    engine["alternatives"] = ["others/" + name for name in alternatives]
    if isa:
        engine["machine"]["isa"] = isa
    with open(os.path.join(top, "engine.json"), "w", encoding="utf-8") as f:
        json.dump(engine, f)
    os.symlink(os.path.join(LIBRARY, model), os.path.join(top, model))
    os.mkdir(os.path.join(top, "others"))
    for name in alternatives:
        os.symlink(os.path.join(LIBRARY, name),
                   os.path.join(top, "others", name))


class Again(unittest.TestCase):
    """After a mismatch: which of what was declared beside gives the answer."""

    folder = os.path.join(CAPTURES, NEW + "conc-bf16-np4")

    def run_again(self, *how, **more):
        with tempfile.TemporaryDirectory() as top:
            redeclared(top, self.folder, *how, **more)
            out = subprocess.run([PROGRAM, self.folder, top, "again"],
                                 check=True, text=True, timeout=900,
                                 stdout=subprocess.PIPE).stdout
        print(out, flush=True)
        return [dict(zip(KEYS, line.split(" ", len(KEYS) - 1)))
                for line in out.splitlines()]

    def check(self, rows, detail):
        self.assertGreater(len(rows), 5)
        for v in rows:
            self.assertEqual((v["verdict"], v["differ"], v["detail"]),
                             ("MATCH", "0", detail), v)
            self.assertGreater(int(v["bits"]), 100)

    def test_weights_that_are_named_beside_those_declared(self):
        self.check(self.run_again("s260k-q8_0.gguf",
                                  ["s260k-f32.gguf", "s260k-bf16.gguf"]),
                   "BF16 weights, declared Q8_0")

    def test_a_build_of_another_class_than_declared(self):
        self.check(self.run_again("s260k-bf16.gguf", isa="AVX2"),
                   "recipe llama.cpp-b11434 (avx512-bf16), declared "
                   "llama.cpp-b11434 (avx2)")

    def test_none_of_them(self):
        for v in self.run_again("s260k-q8_0.gguf", ["s260k-f32.gguf"]):
            self.assertEqual((v["verdict"], v["reason"], v["detail"]),
                             ("UNCHECKABLE", "not_reproduced",
                              "6 alternatives tried"), v)


if __name__ == "__main__":
    unittest.main(verbosity=2)
