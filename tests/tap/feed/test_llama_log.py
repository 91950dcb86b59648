#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_llama_log.py READ_FEED - the reader of llama-server's log.

llama_server.log: what build b11434 wrote (LLAMA_BATCH_DEBUG=1 -lv 5, model
stories260k in F32, otherwise no flags) while curl asked for one answer, two
answers to one chat, two prompts in one request, five at once, and twice for a
prompt that begins with the first one; lines that say nothing of batches, slots
or saved prompts were left out. llama_server.plan: its operations; that they
are the true ones is proven by replay (tests/engines).
"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = os.path.join(HERE, "..", "..", "..", "tap", "plugins")
sys.path.insert(0, PLUGINS)
import llama_log  # noqa: E402
import test_assay_feed  # noqa: E402

READ_FEED = sys.argv.pop(1)


def log_lines():
    with open(os.path.join(HERE, "llama_server.log"),
              errors="surrogateescape") as f:
        return f.readlines()


def passes(lines):
    told = []
    reader = llama_log.Reader(lambda *a: told.append(a))
    for entry in llama_log.entries(lines):
        reader.entry(entry)
    reader.end()
    return told


def messages(told):
    return [{"assay": "batch-step/1", "engine": "e", "feed": "f", "seq": i,
             "step": i, "time_ns": str(when), "padded": 0,
             "members": members, "ops": ops}
            for i, (members, ops, when) in enumerate(told)]


class LlamaLog(unittest.TestCase):
    def test_a_log_gives_its_plan(self):
        plan = subprocess.run(
            [sys.executable, os.path.join(PLUGINS, "llama_log.py"), "--plan",
             "--log", os.path.join(HERE, "llama_server.log")],
            check=True, stdout=subprocess.PIPE).stdout
        with open(os.path.join(HERE, "llama_server.plan"), "rb") as f:
            self.assertEqual(plan, f.read())

    def test_rows_of_a_request_follow_one_another(self):
        ends, prompts = {}, {}
        for members, _, _ in passes(log_lines()):
            for m in members:
                key = m["id"], m["choice"]
                if key not in ends:
                    prompts[key] = m["prompt"]
                    self.assertEqual(m["start"], m["cached"])
                    self.assertIn("slot", m["params"])
                else:
                    self.assertEqual(m["start"], ends[key])
                self.assertEqual(m["n"], len(m["ids"]))
                of_prompt = m["prompt"][m["start"]:] if "prompt" in m else []
                self.assertEqual(m["ids"][:len(of_prompt)], of_prompt)
                ends[key] = m["start"] + m["n"]
        self.assertEqual(len(ends), 12)
        for key, prompt in prompts.items():
            self.assertGreaterEqual(ends[key], len(prompt))

    def test_an_answer_of_two_starts_from_a_copy(self):
        second = [m for members, _, _ in passes(log_lines()) for m in members
                  if m["choice"] == 1]
        self.assertEqual(len(second), 2)
        self.assertEqual(second[0]["cached"], len(second[0]["prompt"]))

    def test_a_batch_that_found_no_room_is_not_told(self):
        lines = log_lines()
        at = max(i for i, line in enumerate(lines) if " D init:   seq" in line)
        whole = passes(lines)
        said = ["D que  yield_to_que: done yielding to queue",
                "W srv  try_clear_id: purging slot 1 with 40 tokens",
                "I slot prompt_clear: id  1 | task -1 | clearing prompt with "
                "40 tokens",
                "W srv  decode: failed to find free space in the KV cache, "
                "retrying with smaller batch size, off = 0, n_batch = 1, "
                "ret = 1"]
        for left_out in ([], said[1:3]):
            more = ["0.09.000.000 %s\n" % line for line in said
                    if line not in left_out]
            told = passes(lines[:at + 1] + more + lines[at + 1:])
            self.assertEqual(len(told), len(whole) - 1)

    def test_a_batch_behind_a_coloured_line_is_read(self):
        """Another thread's colours end on the next line."""
        lines = ["\x1b[0m" + line if "input batch info" in line else line
                 for line in log_lines()]
        self.assertEqual([t[:2] for t in passes(lines)],
                         [t[:2] for t in passes(log_lines())])

    def test_a_loaded_prompt_is_the_saved_one(self):
        ops = [op for _, ops, _ in passes(log_lines()) for op in ops]
        self.assertIn("S 3 0", ops)
        self.assertIn("L 3 0", ops)
        self.assertLess(ops.index("S 3 0"), ops.index("L 3 0"))

    def test_a_pass_has_the_time_of_its_line(self):
        """However long after it was written a line is read."""
        lag = [0]
        clock = llama_log.Clock(lambda: 10**18 + lag[0])
        self.assertEqual(clock.of("1.02.003.004 I x"), 10**18)
        lag[0] = 3600 * 10**9
        self.assertEqual(clock.of("1.02.103.004 I x"), 10**18 + 10**8)

    def test_a_line_that_makes_it_stumble_is_a_gap(self):
        lines = log_lines()
        whole = passes(lines)
        at = next(i for i, line in enumerate(lines)
                  if "launching slots" in line)
        told = passes(lines[:at] + [
            "0.00.000.000 I srv  load:  - saving prompt with length x\n"] +
            lines[at:])
        # What came before is as it was, and what began from nothing later; what
        # a saved prompt was, is not known any more.
        self.assertEqual([t[0] for t in told],
                         [t[0] for t in whole[:6]] + [None] +
                         [t[0] for t in whole[6:22]] + [None] * 9)

    def test_a_line_that_is_missing_is_a_gap(self):
        """Of each batch in turn: its beginning, a row, its end."""
        lines = log_lines()
        whole = passes(lines)
        begins = [i for i, line in enumerate(lines)
                  if "input batch info" in line]
        for n, at in enumerate(begins[2:], -1):
            for i in (at, at + 1, next(i for i in range(at, len(lines))
                                       if " D init:   seq" in lines[i])):
                told = passes(lines[:i] + lines[i + 1:])
                gap = [t[0] for t in told].index(None)
                self.assertLessEqual(gap, n + 1)
                self.assertEqual([t[0] for t in told[:gap]],
                                 [t[0] for t in whole[:gap]])

    def test_a_prompt_left_half_way_asks_for_no_row(self):
        lines = log_lines()
        first = next(i for i, line in enumerate(lines)
                     if "processing task" in line)
        end = next(i for i in range(first, len(lines))
                   if " D init:   seq" in lines[i])
        half = [line.replace("output = 1", "output = 0")
                for line in lines[:end + 1]]
        told = passes(half + [
            "0.09.000.000 I slot release: id  3 | task 0 | stop processing: "
            "n_tokens = 13, truncated = 0\n"])
        member = told[-1][0][-1]
        self.assertEqual(member["prompt"][:-1], member["ids"])

    def test_what_the_server_says_while_it_ends_is_told(self):
        """A server that is told to end has more to say than a pipe holds."""
        log = os.path.join(HERE, "llama_server.log")
        server = ("import signal, sys\n"
                  "lines = open(%r, errors='surrogateescape').readlines()\n"
                  "out = open(1, 'w', errors='surrogateescape')\n"
                  "out.writelines(lines[:len(lines) // 2])\n"
                  "out.flush()\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"
                  "\n"
                  "print('0.09.000.000 I ready', file=out, flush=True)\n"
                  "signal.sigwait([signal.SIGTERM])\n"
                  "out.writelines(lines[len(lines) // 2:])\n"
                  "out.writelines(['0.09.000.000 D x\\n'] * 20000)\n" % log)
        listener = test_assay_feed.Listener()
        reader = subprocess.Popen(
            [sys.executable, os.path.join(PLUGINS, "llama_log.py"), "--to",
             listener.url, "--", sys.executable, "-c", server],
            stderr=subprocess.PIPE, text=True, errors="surrogateescape")
        while "I ready" not in reader.stderr.readline():
            self.assertIsNone(reader.poll())
        reader.terminate()
        reader.communicate()
        self.assertEqual(reader.returncode, 0)
        told = [m["members"] for m in listener.messages()]
        listener.close()
        self.assertEqual(told, [t[0] for t in passes(log_lines())])

    def test_the_tap_reads_the_messages(self):
        text = "".join(json.dumps(m, separators=(",", ":")) + "\n"
                       for m in messages(passes(log_lines())))
        out = subprocess.run([READ_FEED], input=text.encode(), check=True,
                             stdout=subprocess.PIPE).stdout
        self.assertEqual(int(out), text.count("\n"))


if __name__ == "__main__":
    unittest.main()
