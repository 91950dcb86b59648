#!/usr/bin/env python3
# Tiny GGUF files that hold a tokenizer and nothing else: the corpus of
# fuzz_llama_text.c and the vocabularies of test_llama_text.c.
# usage: make_llama_text_corpus.py DIR
# SPDX-License-Identifier: Apache-2.0
import os
import struct
import sys

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    if kind == STRING:
        return string(v)
    if kind == BOOL:
        return struct.pack("<?", v)
    return struct.pack({U32: "<I", F32: "<f", I32: "<i"}[kind], v)


def array(kind, items):
    head = struct.pack("<IQ", kind, len(items))
    return head + b"".join(value(kind, x) for x in items)


# What llama.cpp's library wants to see before it reads a vocabulary.
MODEL = [("general.architecture", STRING, "llama"),
         ("llama.context_length", U32, 32), ("llama.embedding_length", U32, 32),
         ("llama.block_count", U32, 1), ("llama.feed_forward_length", U32, 32),
         ("llama.attention.head_count", U32, 1),
         ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5)]


def write(path, rows):
    rows = MODEL + [("tokenizer." + k, t, v) for k, t, v in rows]
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(rows)))
        for key, kind, v in rows:
            item, list_of = kind if isinstance(kind, tuple) else (kind, False)
            f.write(string(key))
            f.write(struct.pack("<I", ARRAY if list_of else item))
            f.write(array(item, v) if list_of else value(item, v))


def lists(kind):
    return (kind, True)


PIECES = [("\u2581", -1), ("a", -2), ("b", -3), ("c", -4), ("ab", -7),
          ("bc", -6), ("\u2581a", -8), ("abc", -9), ("\u00e9", -5),
          ("<mark>", 0), ("", -20)]


def spm():
    names = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % i for i in range(256)]
    kinds = [2, 3, 3] + [6] * 256
    scores = [0.0] * len(names)
    for name, score in PIECES:
        names.append(name)
        scores.append(float(score))
        kinds.append(4 if name == "<mark>" else 1)
    return {"ggml.model": (STRING, "llama"),
            "ggml.tokens": (lists(STRING), names),
            "ggml.scores": (lists(F32), scores),
            "ggml.token_type": (lists(I32), kinds)}


def alphabet():
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    rest = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(rest))]


def bpe(pre):
    names = alphabet()
    merges = ["h e", "l l", "he ll", "hell o", "\u0120 w", "1 2", "12 3",
              "\u00c3 \u00a9"]
    for m in merges:
        if m.replace(" ", "") not in names:
            names.append(m.replace(" ", ""))
    names += ["zzz", "<|im_start|>", "<|im_end|>", "<|im_start|>x"]
    kinds = [1] * (len(names) - 3) + [3, 1, 4]
    return {"ggml.model": (STRING, "gpt2"), "ggml.pre": (STRING, pre),
            "ggml.tokens": (lists(STRING), names),
            "ggml.token_type": (lists(I32), kinds),
            "ggml.merges": (lists(STRING), merges),
            "ggml.bos_token_id": (U32, names.index("<|im_start|>")),
            "ggml.eos_token_id": (U32, names.index("<|im_end|>"))}


def rows(table, **changes):
    table = dict(table)
    for key, v in changes.items():
        table["ggml." + key] = v
    return [(k, t, v) for k, (t, v) in table.items()]


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    base, word = spm(), bpe("llama-bpe")
    names, scores = base["ggml.tokens"][1], base["ggml.scores"][1]
    files = {
        "spm": rows(base),
        "spm-bare": rows(base, add_bos_token=(BOOL, False),
                         add_space_prefix=(BOOL, False)),
        "spm-around": rows(base, add_eos_token=(BOOL, True)),
        "bpe-llama": rows(word),
        "bpe-smollm": rows(bpe("smollm")),
        "bpe-default": rows(bpe("")),
        "bad-model": rows(base, model=(STRING, "bert")),
        "bad-pattern": rows(bpe("nobody")),
        "bad-twice": rows(base, tokens=(lists(STRING), names + ["a"])),
        "bad-bytes": rows(base, tokens=(lists(STRING), names[:200])),
        "bad-scores": rows(base, scores=(lists(F32), scores[:-1])),
        "bad-nan": rows(base, scores=(lists(F32), [float("nan")] + scores[1:])),
        "bad-kinds": rows(base, token_type=(lists(F32), scores)),
        "bad-merge": rows(word, merges=(lists(STRING), ["h e", "q \u0120"])),
        "bad-pair": rows(word, merges=(lists(STRING), ["he"])),
        "bad-names": rows(base, tokens=(lists(I32), [1, 2])),
        "bad-first": rows(word, bos_token_id=(U32, 9), tokens=(lists(STRING),
                          alphabet()[:5]), merges=(lists(STRING), [])),
    }
    for name, table in files.items():
        write(os.path.join(out, name + ".gguf"), table)


main()
