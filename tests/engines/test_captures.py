#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every recorded exchange with llama-server replays to the bit.

usage: test_captures.py REPLAY_CAPTURE CAPTURES plan|http|controls

plan: folders with a plan (and those without one, from HTTP): nothing differs,
nothing is undecided, and as many logprobs are compared as stand in the bodies.
http: the plans are not looked at; what is undecided is what the wire cannot
tell, named below. controls: the same captures with one thing changed are not
taken for equal.
"""

import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "recordings"))
import recordings  # noqa: E402

LAST = re.compile(r"requests (\d+) logprobs (\d+) differing (\d+) "
                  r"undecided (\d+)$")

# Requests that HTTP alone does not decide: tiles over cells of a unified cache
# that other requests lie between, and an answer with neither ids nor a seed.
UNDECIDED = {
    "llama.cpp-b11434/default-syn-bf16-mixed": {"m3", "m5", "m6"},
    "llama.cpp-b11434/edge-bf16-np4": {"e30"},
}


def folders(captures):
    """(name, folder, model) of every capture of llama-server."""
    for name in recordings.folders(captures, "llama.cpp", "llama.cpp-b11434"):
        folder = os.path.join(captures, name)
        with open(folder + "/engine.json", encoding="utf-8") as f:
            model = os.path.join(folder, json.load(f)["model"])
        if not os.path.exists(model):
            model = os.path.join(captures, "llama.cpp", "libllama",
                                 os.path.basename(model))
        yield name, folder, model


def logprobs_in(node):
    """Chosen and alternative logprobs anywhere in a JSON value."""
    if isinstance(node, dict):
        return ("logprob" in node) + sum(map(logprobs_in, node.values()))
    if isinstance(node, list):
        return sum(map(logprobs_in, node))
    return 0


def count_wire(folder):
    """Logprobs in all answer bodies of a folder."""
    total = 0
    for path in glob.glob(folder + "/*.resp"):
        with open(path, encoding="utf-8", errors="replace") as f:
            body = f.read()
        if body.startswith(("data:", "event:")):
            docs = [line[5:] for line in body.split("\n")
                    if line.startswith("data:") and "{" in line]
        else:
            docs = [body]
        for doc in docs:
            try:
                total += logprobs_in(json.loads(doc))
            except ValueError:
                pass  # an event that was cut off
    return total


def replay(program, folder, model, *flags):
    """The table's rows by request, the four sums, the exit code."""
    run = subprocess.run([program, *flags, folder, model], text=True,
                         capture_output=True, timeout=900, check=False)
    print(run.stdout + run.stderr, flush=True)
    lines = run.stdout.splitlines() or [""]
    last = LAST.match(lines[-1])
    assert last, "no last line: " + repr(lines[-1])
    rows = {line.split()[1]: line for line in lines[1:-1]}
    return rows, [int(n) for n in last.groups()], run.returncode


def by_plan(program, captures):
    for name, folder, model in folders(captures):
        rows, (requests, logprobs, differing, undecided), code = replay(
            program, folder, model)
        assert (differing, undecided, code) == (0, 0, 0), name
        assert requests == len(rows) > 0, name
        assert logprobs == count_wire(folder), (name, count_wire(folder))
        if os.path.exists(folder + "/plan.txt"):
            assert all(row.split()[2] == "plan" for row in rows.values()), name


def by_http(program, captures):
    for name, folder, model in folders(captures):
        rows, sums, code = replay(program, folder, model, "--http")
        open_ones = {k for k, row in rows.items() if "undecided" in row}
        assert sums[2] == 0, name
        assert sums[1] == count_wire(folder) or open_ones, name
        assert open_ones == UNDECIDED.get(name, set()), (name, open_ones)
        assert code == (6 if open_ones else 0), name


def changed(folder, model, change):
    """A copy of a folder after change(copy), as (folder, model)."""
    copy = tempfile.mkdtemp()
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    os.chmod(copy, 0o755)
    for path in glob.glob(copy + "/*"):
        os.chmod(path, 0o644)
    return copy, change(copy) or model


def edit(path, pattern, new, count=1):
    text = open(path, encoding="utf-8", newline="").read()
    text, n = re.subn(pattern, new, text, count=count)
    assert n, (path, pattern)
    open(path, "w", encoding="utf-8", newline="").write(text)


def one_ulp(match):
    bits, = struct.unpack(">I", struct.pack(">f", float(match[1])))
    value, = struct.unpack(">f", struct.pack(">I", bits + 1))
    return '"logprob":' + repr(value)


def controls(program, captures):
    lib = captures + "/llama.cpp/libllama/"
    new = captures + "/llama.cpp-b11434/conc-bf16-np4"
    toy = captures + "/llama.cpp-b11434/solo-f32-strict"
    isa = r'"isa": "[^"]*"'
    cases = [
        ("one ulp in one logprob", toy, "s260k-f32.gguf", 1,
         lambda d: edit(d + "/c6.resp", r'"logprob":(-[0-9.]+)', one_ulp)),
        ("weights of 8 bits", new, "s260k-q8_0.gguf", 1, lambda d: None),
        ("other instructions", new, "s260k-bf16.gguf", 1,
         lambda d: edit(d + "/engine.json", isa, '"isa": "AVX2"')),
        ("no BF16 instructions", new, "s260k-bf16.gguf", 1,
         lambda d: edit(d + "/engine.json", isa, '"isa": "AVX-512"')),
        ("the other version", toy, "s260k-f32.gguf", 1,
         lambda d: edit(d + "/engine.json", r'"build": "[^"]*"',
                        '"build": "commit 173442644 (ggml 0.10.1)"')),
        ("a version of nobody", new, "s260k-bf16.gguf", 6,
         lambda d: edit(d + "/engine.json", r"b11434", "b11435")),
        ("another prompt", new, "s260k-bf16.gguf", 6,
         lambda d: edit(d + "/a1.req", "little girl", "little boy")),
        ("another token", new, "s260k-bf16.gguf", 1,
         lambda d: edit(d + "/a1.resp", r'\{"id":335,', '{"id":336,', 0)),
        ("another seed", toy, "s260k-f32.gguf", 1,
         lambda d: edit(d + "/c2.req", '"seed":42', '"seed":43')),
    ]
    for what, folder, model, expected, change in cases:
        print("# " + what)
        copy, model = changed(folder, lib + model, change)
        flags = () if "prompt" in what else ("--http",)
        for flag in {(), flags}:
            code = replay(program, copy, model, *flag)[2]
            assert code == expected or (flag and code in (1, 6)), (what, code)
        shutil.rmtree(copy)
    full_batches(program, captures)


def full_batches(program, captures):
    """The same lie: where full batches may cut prompts, nobody is accused."""
    for command, expected in (("", 1), (" -b 64", 6)):
        print("# one ulp in company" + command)
        copy, model = changed(
            captures + "/llama.cpp-b11434/conc-bf16-np4",
            captures + "/llama.cpp/libllama/s260k-bf16.gguf",
            lambda d: edit(d + "/a1.resp", r'"logprob":(-[0-9.]+)', one_ulp))
        edit(copy + "/engine.json", r'"command": "[^"]*', r"\g<0>" + command)
        rows, _, code = replay(program, copy, model, "--http")
        assert code == expected, (command, code)
        assert ("a full batch" in rows["a1"]) == (expected == 6), rows["a1"]
        shutil.rmtree(copy)


def main():
    program, captures, what = sys.argv[1:]
    {"plan": by_plan, "http": by_http, "controls": controls}[what](
        program, captures)


if __name__ == "__main__":
    main()
