# SPDX-License-Identifier: Apache-2.0
"""The schedulers' plans of the captured vLLM and SGLang traffic, as messages
of the batch feed, are all taken by the tap's reader.

usage: test_feed_captures.py READ_FEED CAPTURES
"""

import json
import os
import subprocess
import sys

import steps_to_feed
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "recordings"))
import recordings  # noqa: E402


def main():
    read_feed, captures = sys.argv[1:3]
    for name in recordings.folders(captures, "vllm", "sglang"):
        plan = os.path.join(captures, name, "steps.jsonl")
        lines = [json.dumps(m) for m in
                 steps_to_feed.messages(os.path.dirname(plan))]
        out = subprocess.run([read_feed], input="".join(
            line + "\n" for line in lines).encode(), check=True,
            stdout=subprocess.PIPE)
        with open(plan, encoding="utf-8") as f:
            assert int(out.stdout) == len(lines) == len(f.readlines())
        print(plan, len(lines), "messages")


if __name__ == "__main__":
    main()
