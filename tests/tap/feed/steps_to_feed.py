# SPDX-License-Identifier: Apache-2.0
"""steps_to_feed - the scheduler's plan of a capture (steps.jsonl of vLLM or
SGLang) as the messages its engine's plug-in would have sent.

Comes in: a capture folder. Goes out: NDJSON of docs/batch-feed.md, on stdout
or as dicts from messages().
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "tap", "plugins"))
from assay_feed import vllm_request  # noqa: E402


def _vllm_members(row, ends):
    """ends: where each request's last row ended, kept from row to row."""
    members = []
    for engine_id, plan in row["req"].items():
        request, choice = vllm_request(engine_id)
        new, n = plan.get("new"), plan["n"]
        # "computed" counts what is in the cache after the step; an aborted
        # request has none in its last row.
        start = (plan["computed"] - n if "computed" in plan
                 else ends[engine_id])
        ends[engine_id] = start + n
        member = {"id": request, "choice": choice, "start": start, "n": n,
                  "cached": new["computed"] if new else 0}
        if new:
            member["prompt"] = new["prompt"]
            member["params"] = {k: v for k, v in new.items()
                                if k not in ("prompt", "computed")}
        members.append(member)
    return members, []


def _sglang_members(row, ends):
    members, ops = [], []
    for plan in row["req"]:
        rid = plan["rid"]
        if "extend" not in plan:  # decoding
            prompt_n = ends[rid][1]
            start, n = prompt_n + plan["nout"] - 1, 1
            member = {"id": rid, "choice": 0, "start": start, "n": n,
                      "cached": 0}
        else:
            start, n = plan["prefix"], plan["extend"]
            end = ends[rid][0] if rid in ends else None
            member = {"id": rid, "choice": 0, "start": start, "n": n,
                      "cached": 0}
            if end != start:  # no further piece of a cut prompt
                if end is not None:  # retracted before
                    ops.append("rewind %s 0 0" % rid)
                member["cached"] = start
                member["prompt"] = plan["prompt"]
                member["params"] = plan["sampling"]
            prompt_n = len(plan["prompt"])
        ends[rid] = (start + n, prompt_n)
        members.append(member)
    return members, ops


def messages(folder, engine="e0"):
    ends = {}
    with open(os.path.join(folder, "steps.jsonl"), encoding="utf-8") as lines:
        for seq, line in enumerate(lines):
            row = json.loads(line)
            convert = (_vllm_members if isinstance(row["req"], dict)
                       else _sglang_members)
            members, ops = convert(row, ends)
            message = {"assay": "batch-step/1", "engine": engine,
                       "feed": "capture", "seq": seq, "step": row["step"],
                       "time_ns": str(round(row["t"] * 1e9)), "padded": 0,
                       "members": members}
            if ops:
                message["ops"] = ops
            yield message


if __name__ == "__main__":
    for m in messages(sys.argv[1]):
        print(json.dumps(m, separators=(",", ":")))
