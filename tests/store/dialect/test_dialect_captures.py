# SPDX-License-Identifier: Apache-2.0
"""Every captured exchange of llama.cpp, vLLM and SGLang parses, and its token
ids, logprob bits, texts and errors are those that a walk over the JSON finds
which knows no API.

usage: test_dialect_captures.py DIALECT_DUMP CAPTURES
"""

import collections
import glob
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "recordings"))
import recordings  # noqa: E402

NOT_INFERENCE = ("/tokenize", "/detokenize", "/apply-template", "/v1/models",
                 "/health", "/props", "/slots", "/metrics", "/v1/embeddings",
                 "/v1/nothing", "/get_model_info", "/v1/chat/completions/render")


def bits(value):
    """Bits of the nearest float32; null is minus infinity."""
    if value is None:
        value = float("-inf")
    try:
        return struct.unpack(">I", struct.pack(">f", value))[0]
    except OverflowError:
        return 0xff800000 if value < 0 else 0x7f800000


def documents(body):
    """The JSON texts of an answer: one, or one a data event."""
    if not body.startswith(("data:", "event:")):
        return [json.loads(body)]
    found = []
    for block in body.split("\n\n")[:-1]:  # the last one is not whole
        data = [line[5:].strip() for line in block.split("\n")
                if line.startswith("data:")]
        if data and data[0] != "[DONE]":
            found.append(json.loads("\n".join(data)))
    return found


def units(document):
    """(index, part) of each answer that a document has."""
    if isinstance(document, list):
        return list(enumerate(document))
    if "choices" in document:
        return [(c["index"], c) for c in document["choices"]]
    return [(document.get("index", 0) if "content" in document else 0,
             document)]


def is_triple(value):
    return (isinstance(value, list) and len(value) == 3
            and isinstance(value[1], int)
            and (value[0] is None or isinstance(value[0], float)))


class Walk:
    """What stands in the JSON under the names that all APIs use."""

    def __init__(self):
        self.chosen, self.top = [], []  # bits, in order of the text
        self.ids, self.listed, self.prompt = [], [], []
        self.prompt_bits = []  # of prompt_logprobs, its own token first

    def read(self, node, key="", inside_top=False):
        if isinstance(node, dict):
            if "logprob" in node and "top_logprobs" not in key:
                self.add(node, inside_top)
            elif "prob" in node and not inside_top:
                self.ids.append(node["id"])
            for k, v in node.items():
                self.read_member(k, v, inside_top)
        elif is_triple(node):
            if "input" not in key:
                (self.top if "top" in key else self.chosen).append(
                    bits(node[0]))
                if "top" not in key:
                    self.ids.append(node[1])
        elif isinstance(node, list):
            for v in node:
                self.read(v, key, inside_top)

    def add(self, node, inside_top):
        (self.top if inside_top else self.chosen).append(bits(node["logprob"]))
        for name in ("id", "token_id"):
            if name in node and not inside_top:
                self.ids.append(node[name])

    def read_member(self, k, v, inside_top):
        if k in ("token_ids", "output_ids", "tokens") and isinstance(v, list) \
                and all(isinstance(i, int) for i in v):
            self.listed += v
        elif k == "prompt_token_ids" and v:
            self.prompt += v
        elif k == "prompt_logprobs":
            self.prompt_bits += [bits(next(iter(x.values()))["logprob"])
                                 if x else None for x in v or ()]
        elif k == "token_logprobs" and v:
            self.chosen += [bits(x) for x in v]
        elif k == "top_logprobs" and isinstance(v, list) and any(
                isinstance(x, dict) and "logprob" not in x for x in v):
            for x in v:
                self.top += [bits(y) for y in (x or {}).values()]
        elif k in ("top_logprobs", "top_probs") and isinstance(v, list):
            for x in v:
                if "logprob" in x:
                    self.top.append(bits(x["logprob"]))
        else:
            self.read(v, k, inside_top)


def text_of(part):
    """The plain text of a part, wherever an API keeps it."""
    for path in (("message", "content"), ("delta", "content"), ("text",),
                 ("content",), ("delta", "text")):
        node = part
        for key in path:
            node = node.get(key) if isinstance(node, dict) else None
        if isinstance(node, str):
            return node
    if isinstance(part.get("delta"), str):
        return part["delta"]  # responses
    blocks = part.get("content") or [c for o in part.get("output", ())
                                     for c in o.get("content", ())]
    return "".join(b.get("text", "") for b in blocks
                   if isinstance(b, dict))


def expected(target, body):
    walks, texts = collections.OrderedDict(), collections.defaultdict(str)
    docs = documents(body)
    stream = body.startswith(("data:", "event:"))
    if target == "/generate" and stream:
        docs = docs[-1:]  # the events repeat what was before
    typed = stream and target in ("/v1/responses", "/v1/messages")
    for doc in docs:
        if typed and "delta" not in doc.get("type", ""):
            continue
        if typed and isinstance(doc["delta"], dict) \
                and doc["delta"].get("type") != "text_delta":
            continue
        for index, part in units(doc):
            walk = walks.setdefault(index, Walk())
            texts[index] += text_of(part)
            # The event that tells llama.cpp's progress samples nothing.
            if not (part.get("content") == "" and
                    part.get("tokens_predicted") == 0):
                walk.read(part)
    return walks, texts


def flat(tokens):
    return [t["bits"] for t in tokens if "bits" in t]


def tops(tokens):
    return [c["bits"] for t in tokens for c in t["top"] if "bits" in c]


def compare(d, target, body, request):
    """Complaints about one exchange."""
    a, s = d["answer"], d["summary"]
    docs = documents(body)
    error = any("error" in x and x["error"] or x.get("object") == "error"
                for x in docs if isinstance(x, dict))
    if bool(a["error"]) != bool(error) or s["failed"] != bool(error):
        yield "error %r %r" % (a["error"], s)
    if error:
        return
    echo = request.get("echo") is True
    walks, texts = expected(target, body)
    got = {c["index"]: c for c in a["choices"]}
    if not set(walks) <= set(got):
        yield "choices %s instead of %s" % (sorted(got), sorted(walks))
        return
    for index, walk in walks.items():
        c = got[index]
        name = "choice %d: " % index
        # An echoed prompt's logprobs stand before the answer's; the first
        # token of a text has none.
        mine = ([0xff800000] if echo and c["prompt"] and
                "bits" not in c["prompt"][0] else [])
        mine += flat(c["prompt"]) if echo else []
        mine += flat(c["tokens"])
        if mine != walk.chosen:
            yield name + "logprobs %s... instead of %s..." % (
                mine[:3], walk.chosen[:3])
        theirs = tops(c["prompt"]) if echo else []
        if theirs + tops(c["tokens"]) != walk.top:
            yield name + "top logprobs differ"
        if walk.prompt_bits and walk.prompt_bits != [
                t.get("bits") for t in c["prompt"]]:
            yield name + "prompt logprobs differ"
        wanted = walk.listed or walk.ids
        ids = [t["id"] for t in c["tokens"]]
        if wanted and ids != wanted:
            yield name + "ids %s instead of %s" % (ids[:5], wanted[:5])
        if not wanted and any(i != -1 for i in ids):
            yield name + "ids made up"
        if c["has_ids"] != bool(wanted):
            yield name + "has_ids"
        if bytes.fromhex(c["text"]).decode("utf-8", "replace") != texts[index]:
            yield name + "text %r instead of %r" % (
                bytes.fromhex(c["text"])[:40], texts[index][:40])
    prompts = [x for doc in docs if isinstance(doc, dict)
               for x in (doc.get("prompt_token_ids") or ())]
    for c in a["choices"]:
        want = prompts or walks.get(c["index"], Walk()).prompt
        if want and [t["id"] for t in c["prompt"]] != want:
            yield "prompt ids"


def summary_complaints(d):
    a, s = d["answer"], d["summary"]
    if s["failed"]:
        return
    if s["id"] != bytes.fromhex(a["id"]).decode():
        yield "summary id %r" % s["id"]
    if s["from"] == "usage" and s["choices"] == 1 and a["has_usage"] and \
            (s["in"], s["out"]) != (a["in"], a["out"]):
        yield "summary counts %s, parsed %d %d" % (s, a["in"], a["out"])
    if s["from"] == "tokens" and not (
            0 <= s["out"] - sum(len(c["tokens"]) for c in a["choices"])
            <= len(a["choices"])):  # a stop token that is not listed
        yield "summary counted %s" % s
    if s["from"] == "-":
        yield "summary has no counts"


def main():
    dump, captures = sys.argv[1:3]
    paths = sorted(
        p[:-4] for folder in recordings.folders(
            captures, "llama.cpp", "llama.cpp-b11434", "vllm", "sglang")
        for p in glob.glob(os.path.join(captures, folder, "*.req")))
    out = subprocess.run([dump] + paths, check=True, stdout=subprocess.PIPE)
    n, failed, tokens, logprobs = 0, 0, 0, 0
    for path, line in zip(paths, out.stdout.decode().splitlines()):
        d = json.loads(line)
        with open(path + ".req", encoding="utf-8") as f:
            method, target, text = (f.read() + "  ").split(" ", 2)
        target = target.strip()
        with open(path + ".resp", encoding="utf-8") as f:
            body = f.read()
        if d["api"] is None:
            complaints = ([] if target in NOT_INFERENCE
                          else ["not recognised: " + target])
        else:
            n += 1
            try:
                request = json.loads(text)
            except ValueError:
                request = None
            complaints = ["taken for an inference"] \
                if target in NOT_INFERENCE else []
            if (d["bad"] is not None) != (request is None):
                complaints.append("bad: %s" % d["bad"])
            complaints += compare(d, target, body, request or {})
            complaints += summary_complaints(d)
            for c in d["answer"]["choices"]:
                tokens += len(c["tokens"])
                logprobs += len(flat(c["tokens"])) + len(tops(c["tokens"]))
        for complaint in complaints:
            failed += 1
            print(os.path.relpath(path, captures), complaint)
    print("%d exchanges, %d tokens, %d logprobs, %d complaints"
          % (n, tokens, logprobs, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
