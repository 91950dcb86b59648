#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_llama_varied.py REPLAY_CAPTURE - the real llama-server under many
settings, replayed to the bit.

Each row is a server: weights and flags. Requests of all kinds that random
numbers of a fixed seed choose go to it, several at once; replay-capture must
find every logprob that was sent, equal: by the server's own batches all of
them, from HTTP alone all that it decides.
"""

import os
import random
import sys
import tempfile
import unittest

import llama_server
import recording
import test_captures

REPLAY = os.path.abspath(sys.argv.pop(1))
STREAMS = ["-np", "4", "-t", "2", "-c", "4096", "-cram", "0"]
SERVERS = [
    ("stories260k-f32", []),
    ("stories260k-f32", ["-np", "1", "-t", "1", "-c", "512", "-ctk", "f32",
                         "-ctv", "f32", "-fa", "off", "-cram", "0"]),
    ("stories260k-f32", ["-np", "3", "-c", "1536", "-ub", "32", "-b", "64"]),
    ("stories260k-bf16", STREAMS),
    ("stories260k-bf16", ["-np", "8", "-kvu", "-t", "2"]),
    ("stories260k-q8_0", ["-np", "2", "-kvu", "-fa", "off", "-cram", "0"]),
    ("syn2-f16", STREAMS),
    ("syn2-q8_0", []),
    ("syn2-q4_0", STREAMS + ["-fa", "off"]),
    ("syn2-q4_1", STREAMS),
    ("syn2-q5_0", STREAMS),
    ("syn2-q5_1", []),
    ("syn2-q4_k_m", STREAMS + ["-ctk", "f32", "-ctv", "f32"]),
    ("syn2-q5_k_m", STREAMS + ["-t", "3"]),
    ("syn2-q6_k", ["-np", "2", "-c", "2048"]),
    ("smollm2-135m-q4_k_m", STREAMS),
]
TEXTS = ["Once upon a time, there was a little girl named Lily.",
         "One day, a boy named Tim went to the park with his mom. He saw a",
         "The sun was hot and the cat wanted to", "Ben and Mia were friends."]
# Random weights would write bytes that are no text.
BYTES = [[i, False] for i in range(259)]


def sampling(chance):
    how = {"temperature": 0}
    if chance.random() < 0.5:
        how = {"temperature": chance.choice([0.3, 0.8, 1.2]),
               "seed": chance.randrange(10 ** 6)}
        for name, values in (("top_k", [0, 1, 5, 40]), ("min_p", [0, 0.1]),
                             ("top_p", [0.3, 0.9, 1]),
                             ("repeat_penalty", [1.2]),
                             ("presence_penalty", [0.5])):
            if chance.random() < 0.3:
                how[name] = chance.choice(values)
    return how


def request(chance, random_weights):
    """Path and body."""
    text = " ".join(chance.choice(TEXTS)
                    for _ in range(chance.choice([1, 1, 1, 2, 8])))
    n = chance.randrange(1, 33)
    body = dict(sampling(chance), model="m", stream=chance.random() < 0.5)
    if random_weights:
        body["logit_bias"] = BYTES
    kind = chance.randrange(3)
    if kind == 0:
        body.update(prompt=text, n_predict=n, return_tokens=True,
                    n_probs=chance.choice([1, 3, 20, 100]),
                    cache_prompt=chance.random() < 0.8)
        return "/completion", body
    if kind == 1:
        body.update(prompt=text, max_tokens=n, logprobs=chance.choice([1, 5]))
        return "/v1/completions", body
    body.update(messages=[{"role": "user", "content": text}], max_tokens=n,
                logprobs=True, top_logprobs=chance.choice([0, 2, 20]))
    return "/v1/chat/completions", body


def waves(chance, random_weights):
    return [[request(chance, random_weights) for _ in range(n)]
            for n in (1, 4, 3, 1)]


class Varied(unittest.TestCase):
    def check(self, number, name, flags):
        chance = random.Random(number)
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, name)
            model = llama_server.model(name)
            recording.record(folder, model, flags,
                             waves(chance, name.startswith("syn2")))
            rows, sums, code = test_captures.replay(REPLAY, folder, model)
            sent = test_captures.count_wire(folder)
            self.assertEqual(sums, [9, sent, 0, 0])
            self.assertEqual(code, 0)
            self.assertTrue(all(r.split()[2] == "plan" for r in rows.values()))
            rows, sums, code = test_captures.replay(REPLAY, folder, model,
                                                    "--http")
            self.assertEqual(sums[2], 0)
            if sums[3] == 0:
                self.assertEqual(sums[1], sent)
            self.assertIn(code, (0, 6))
            self.assertLess(sums[3], 9)  # at the least the first, alone

    def test_every_server(self):
        for number, (name, flags) in enumerate(SERVERS):
            with self.subTest(name=name, flags=" ".join(flags)):
                print("#", name, *flags, flush=True)
                self.check(number, name, flags)


if __name__ == "__main__":
    unittest.main()
