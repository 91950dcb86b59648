#!/usr/bin/env python3
# The whole sampler chain of llama.cpp against a plain one written here from
# the same rules: lists of Python, floats rounded to float32 after every step,
# the standard library's Mersenne Twister. Random logits without equal values.
#
# usage: test_llama_draws.py LLAMA_DRAWS
# SPDX-License-Identifier: Apache-2.0
import math
import random
import struct
import subprocess
import sys


def r32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Twister:
    """std::mt19937 by way of random.Random, whose generator is the same."""

    def __init__(self, seed):
        words = [seed]
        for i in range(1, 624):
            x = words[-1] ^ (words[-1] >> 30)
            words.append((1812433253 * x + i) & 0xFFFFFFFF)
        self.random = random.Random()
        self.random.setstate((3, tuple(words) + (624,), None))

    def unit(self):
        low = self.random.getrandbits(32)
        return float(low + self.random.getrandbits(32) * 2 ** 32) / 2.0 ** 64


def softmax_sums(rows):
    top = max(l for _, l in rows)
    return [r32(math.exp(r32(l - top))) for _, l in rows]


def penalise(rows, s, seen):
    last = seen[max(0, len(seen) - s["last_n"]):]
    out = []
    for i, l in rows:
        n = last.count(i)
        if n:
            l = r32(l * s["repeat"]) if l <= 0 else r32(l / s["repeat"])
            cost = r32(r32(n * s["frequency"]) + s["presence"])
            l = r32(l - cost)
        out.append((i, l))
    return out


def keep_top_p(rows, p):
    """Float sums: the first in the list's order, the second from the best."""
    sums = softmax_sums(rows)
    total = 0.0
    for x in sums:
        total = r32(total + x)
    ranked = sorted(zip(rows, sums), key=lambda r: -r[0][1])
    running, kept = 0.0, []
    for row, x in ranked:
        kept.append(row)
        running = r32(running + r32(x / total))
        if running >= p:
            break
    return kept


def choose(logits, s, seen, twister):
    rows = list(enumerate(logits))
    if s["last_n"] and (s["repeat"], s["frequency"], s["presence"]) != (1, 0, 0):
        rows = penalise(rows, s, seen)
    if s["top_k"] > 0:
        rows = sorted(rows, key=lambda r: -r[1])[:s["top_k"]]
    if s["top_p"] < 1:
        rows = keep_top_p(rows, s["top_p"])
    if s["min_p"] > 0:
        least = r32(max(l for _, l in rows) + r32(math.log(s["min_p"])))
        rows = [r for r in rows if r[1] >= least]
    if s["temperature"] <= 0:
        rows = [max(rows, key=lambda r: r[1])]
        twister.unit()
        return rows[0][0]
    rows = [(i, r32(l / s["temperature"])) for i, l in rows]
    if len(rows) == 1:
        if s["draws_single"]:
            twister.unit()
        return rows[0][0]
    sums = softmax_sums(rows)
    target = sum_in_order(sums) * twister.unit()
    running = 0.0
    for (i, _), x in zip(rows, sums):
        running += x
        if running >= target:
            return i
    return rows[-1][0]


def sum_in_order(values):
    total = 0.0
    for x in values:
        total += x
    return total


def case(rng, i):
    vocab = rng.choice([3, 40, 300, 2000])
    s = {
        "seed": rng.getrandbits(32), "draws_single": i % 2,
        "last_n": rng.choice([0, 3, 64, 1000]),
        "top_k": rng.choice([0, 1, 5, 40, 40, 129, 5000]),
        "top_p": r32(rng.choice([1, 0.95, 0.5, 0.999])),
        "min_p": r32(rng.choice([0, 0.05, 0.5])),
        "temperature": r32(rng.choice([0, 0.3, 0.8, 1, 2])),
        "repeat": r32(rng.choice([1, 1, 1.3])),
        "frequency": r32(rng.choice([0, 0, 0.4])),
        "presence": r32(rng.choice([0, 0, 0.7])),
    }
    prompt = [rng.randrange(vocab) for _ in range(rng.randint(0, 70))]
    spread = rng.choice([1, 4, 12])
    rows = []
    for _ in range(12):
        row = [r32(rng.gauss(0, spread)) for _ in range(vocab)]
        if len(set(row)) != vocab:
            row = [r32(x + 1e-3 * k) for k, x in enumerate(sorted(row))]
            rng.shuffle(row)
        rows.append(row)
    return vocab, s, prompt, rows


def packed(vocab, s, prompt, rows):
    out = struct.pack("<6Ii6f", vocab, len(rows), len(prompt), s["seed"],
                      s["draws_single"], s["last_n"], s["top_k"], s["top_p"],
                      s["min_p"], s["temperature"], s["repeat"],
                      s["frequency"], s["presence"])
    out += struct.pack("<%dI" % len(prompt), *prompt)
    return out + b"".join(struct.pack("<%df" % vocab, *r) for r in rows)


def main():
    rng = random.Random(4)
    data, want = b"", []
    for i in range(160):
        vocab, s, prompt, rows = case(rng, i)
        data += packed(vocab, s, prompt, rows)
        twister, seen = Twister(s["seed"]), list(prompt)
        for row in rows:
            want.append(choose(row, s, seen, twister))
            seen.append(want[-1])
    done = subprocess.run([sys.argv[1]], input=data, stdout=subprocess.PIPE,
                          check=True)
    got = [int(x) for x in done.stdout.split()]
    bad = sum(a != b for a, b in zip(got, want)) + abs(len(got) - len(want))
    print("%d draws, %d differ" % (len(want), bad))
    sys.exit(bad != 0)


main()
