#!/usr/bin/env python3
# Our tokenizer of GGUF files against llama.cpp's own library, on every file
# given, on texts of many scripts, every character of Unicode and random
# mixtures; and on the first BPE file again under every word pattern we know.
#
# usage: peer_llama_text.py LLAMA_IDS RECORDINGS
# llama.cpp is what tests/engines/llama_server.py builds.
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..",
                                "engines"))

import llama_server  # noqa: E402

SAMPLES = [
    "", " ", "  ", "\n", "\n\n \n", "a", " a", "a ", "\ta\t\tb", "it's IT'S don't",
    "we'll they'Re I'm'm'd", "x = y+1; // $5.00 <= ^~|", "1234567 3.14159 007",
    "Grüße aus Köln, naïve café", "Привет, мир! Как дела?", "你好,世界。这是一个测试",
    "こんにちは世界 カタカナ", "안녕하세요 세계", "مرحبا بالعالم ١٢٣", "שלום עולם",
    "नमस्ते दुनिया १२३", "สวัสดีชาวโลก", "Ελληνικά και ½ ¾ Ⅷ ²", "🙂👩‍👩‍👧🏽 flags 🇩🇪",
    "a\u0301e\u0308 combining", "\u00a0\u2003\u3000wide\u2009spaces\u0085x",
    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", "<s>a</s>b<unk>",
    "<|endoftext|><|endoftext|>x", "<|im_start|", "<s> x <s>", "<0x0A>", "\u2581a \u2581",
    "Once upon a time, there was a little girl named Lily.", "\x00\x01\x7f",
    "    def f(x):\n\t\treturn x**2  # ok\n\n\n", "a" * 300, " " * 70 + "x",
    "\r\n\r\nx\r\n", "...!!!???   ---", "don’t “quote”", "l'été d'hier",
]


def texts(seed):
    rng = random.Random(seed)
    out = list(SAMPLES)
    points = [c for c in range(1, 0x30000) if not 0xD800 <= c < 0xE000]
    for i in range(0, len(points), 64):
        row = "".join("a%c1 %c" % (c, c) for c in points[i:i + 64])
        out.append(row)
    pool = [c for s in SAMPLES for c in s] + list(" \n'09azAZ,.$")
    for _ in range(400):
        out.append("".join(rng.choice(pool) for _ in range(rng.randint(1, 80))))
    words = " ".join(SAMPLES).split(" ")
    for _ in range(200):
        out.append(" ".join(rng.choice(words) for _ in range(rng.randint(1, 40))))
    return out


def run(program, model, data, env=None):
    args = [program, model]
    done = subprocess.run(args, input=data, stdout=subprocess.PIPE, env=env,
                          check=True, timeout=600)
    return done.stdout.decode().split("\n")


def compare(name, ours, peer, model, rows):
    data = b"".join(struct.pack(">I", len(t)) + t for t in rows)
    mine = run(ours, model, data)
    theirs = run(peer[0], model, data, peer[1])
    if len(mine) != len(theirs) or len(mine) != len(rows) + 2:
        sys.exit("%s: %d lines, %d of the peer" % (name, len(mine), len(theirs)))
    bad = [i for i in range(len(mine)) if mine[i] != theirs[i]]
    for i in bad[:5]:
        print("%s: %r\n  ours  %s\n  peer  %s" % (
            name, "ending ids" if i == 0 else rows[i - 1], mine[i], theirs[i]))
    print("%s: %d texts, %d differ" % (name, len(rows), len(bad)))
    return len(bad)


def build_peer(tmp):
    lib = os.path.dirname(llama_server.binary("llama-server"))
    out = os.path.join(tmp, "llama_peer")
    subprocess.run(["cc", "-O1", "-o", out, HERE + "/llama_peer.c",
                    "-I", llama_server.SOURCE + "/include",
                    "-I", llama_server.SOURCE + "/ggml/include",
                    "-L", lib, "-lllama", "-lggml-base"], check=True)
    return out, dict(os.environ, LD_LIBRARY_PATH=lib)


def string(text):
    return struct.pack("<Q", len(text)) + text


def fields(blob):
    """Keys of a GGUF file: (key, type, bytes of the value)."""
    size = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    at, rows = 24, []

    def skip(kind, at):
        if kind == 8:
            return at + 8 + struct.unpack_from("<Q", blob, at)[0]
        if kind == 9:
            item, n = struct.unpack_from("<IQ", blob, at)
            at += 12
            if item != 8:
                return at + n * size[item]
            for _ in range(n):
                at = skip(8, at)
            return at
        return at + size[kind]

    for _ in range(struct.unpack_from("<Q", blob, 16)[0]):
        n = struct.unpack_from("<Q", blob, at)[0]
        key = blob[at + 8:at + 8 + n]
        kind = struct.unpack_from("<I", blob, at + 8 + n)[0]
        start = at + 12 + n
        at = skip(kind, start)
        rows.append((key, kind, blob[start:at]))
    return rows


def with_pattern(model, pattern, path):
    """The file's keys alone, under another word pattern."""
    rows = fields(open(model, "rb").read(16 << 20))
    kept = [r for r in rows if r[0] != b"tokenizer.ggml.pre"]
    kept.append((b"tokenizer.ggml.pre", 8, string(pattern.encode())))
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(kept)))
        for key, kind, value in kept:
            f.write(string(key) + struct.pack("<I", kind) + value)


def main():
    ours, recordings = sys.argv[1:3]
    rows = [t.encode() for t in texts(11434)]
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        peer = build_peer(tmp)
        models = [recordings + "/llama.cpp/libllama/" + n
                  for n in ("s260k-f32.gguf", "syn2-Q4_K_M.gguf")]
        models.append(llama_server.wheel_gguf())
        tiny = sorted(glob.glob(HERE + "/corpus/llama_text/[bs]p[em]*.gguf"))
        for model in models + tiny:
            bad += compare(os.path.basename(model), ours, peer, model, rows)
        for pattern in ("default", "gpt-2", "llama-bpe", "qwen2", "falcon",
                        "smaug-bpe", "stablelm2", "mpt"):
            path = os.path.join(tmp, pattern + ".gguf")
            with_pattern(models[-1], pattern, path)
            bad += compare(pattern, ours, peer, path, rows)
    sys.exit(bad != 0)


main()
