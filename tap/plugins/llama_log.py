#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llama_log - tells llama-server's batches to assay-tap, from its debug log.

    llama_log.py --to http://TAP:PORT --engine NAME -- llama-server ARGUMENT...
    llama_log.py --plan [--log FILE]

Comes in: the log of llama-server, written with LLAMA_BATCH_DEBUG=1 and -lv 5
(both are set here), from its start: which cells hold what follows from all
that went before. Goes out: one message of docs/batch-feed.md for each decode
call, by way of assay_feed.py; with --plan instead the operations as text, one
a line, as recompute/engine/llama/schedule/schedule.h has them. The server needs
no change. What a slot does that is no operation of docs/batch-feed.md (a
context shift) is told by name, `shift SLOT`, and `lost SLOT` where the log
contradicts what was read: such batches cannot be run again. A pass has the time
of its line in the log, however late it is read; while the reader lags, the server waits. A line that
the reader stumbles over costs a number of the feed, and never the server.

Its answers' ids are not in its log, so a request is named `task:N` by the
server's own count of tasks.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

# A colour's end, written by a line before: chat templates are logged in colour.
COLOUR = re.compile(r"^(?:\x1b\[[0-9;]*m)+")
STAMP = re.compile(r"^(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) ([A-Z]) ")
ROW = re.compile(r"ubatch_print: +(\d+): id = +(\d+) \(.*\), pos = +(\d+), "
                 r"n_seq_id = +(\d+), seq_id = \[([^\]]*)\], output = ([01])$",
                 re.S)
ROWS_END = re.compile(r" D init: +seq +=")
SLOT = re.compile(r"slot +\S+: id +(\d+) \| task +(-?\d+) \| +(.*)$", re.S)
CLOSE_S = 300  # for what is still to be sent when the server has ended
SETTING = re.compile(r"(\w+) = (-?[0-9.]+)")


def entries(lines):
    """Log lines to entries: a piece of text in one may hold line ends."""
    entry = None
    for line in lines:
        line = COLOUR.sub("", line.rstrip("\n"))
        if STAMP.match(line):
            if entry is not None:
                yield entry
            entry = line
            if not (line.endswith("sampler params: ") or
                    ("ubatch_print" in line and ": id = " in line)):
                yield entry
                entry = None
        elif entry is not None:
            entry += "\n" + line
            if ROW.search(entry):
                yield entry
                entry = None
    if entry is not None:
        yield entry


class Slot:
    """What one slot holds, and for which request."""

    def __init__(self, number):
        self.number = number
        self.tokens = []
        self.take(None, 0)

    def take(self, request, choice):
        self.request, self.choice = request, choice
        self.params = {"slot": self.number}
        self.prompt = None   # its ids, once all are known
        self.first = None    # the member that announces them


class Saved:
    """One state in the server's prompt cache, oldest first."""

    def __init__(self, number, tokens):
        self.number, self.tokens, self.place = number, tokens, None


class Clock:
    """Stamps count from the server's start, on its clock of the day: that start
    is known as well as the one line that was read soonest."""

    def __init__(self, now_ns=time.time_ns):
        self.now_ns = now_ns
        self.start_ns = None

    def of(self, entry):
        m = STAMP.match(entry)
        if m is None:
            return self.now_ns()
        minutes, s, ms, us = (int(m.group(i)) for i in range(1, 5))
        since = ((minutes * 60 + s) * 1000000 + ms * 1000 + us) * 1000
        start = self.now_ns() - since
        if self.start_ns is None or start < self.start_ns:
            self.start_ns = start
        return self.start_ns + since


class Reader:
    """Entries in, passes out: told(members, ops, time_ns) for each; members is
    None for one that cannot be told."""

    def __init__(self, told, clock=None):
        self.told = told
        self.clock = clock or Clock()
        self.when = 0         # of the entry being read
        self.serves = False   # a request was launched
        self.saves = 0
        self._forget()

    def _forget(self):
        self.slots = {}
        self.ops = []
        self.saved = []
        self.chosen = None    # slot that the next save or load is about
        self.saving = False
        self.loading = None   # slot
        self.listing = None   # places of the states, being listed
        self.parent = None    # [task, next choice] while answers are launched
        self.rows = None      # of the batch being printed
        self.cut = False      # into ubatches, which are printed as well
        self.batch = None     # printed, not yet known to have gone well
        self.waiting = []     # passes with a prompt that is not known whole

    def slot(self, number):
        return self.slots.setdefault(number, Slot(number))

    def entry(self, text):
        self.when = self.clock.of(text)
        try:
            self._read(text)
        except Exception as e:  # no line may end the server
            sys.stderr.write("llama_log: %r at: %s\n" % (e, text[:200]))
            self.stumble()

    def stumble(self):
        """What the slots hold is not known any more: passes are not told until
        each of their requests is one that was launched since."""
        waiting = len(self.waiting)
        self._forget()
        for _ in range(waiting + 1):
            self.told(None, None, self.when)

    def _read(self, text):
        if self.rows is not None or "input batch info" in text:
            if self._in_batch(text):
                return
        if ROWS_END.search(text):
            raise ValueError("a batch did not begin")
        if "ubatch_" in text:
            # The batch's pieces follow it; else its beginning was not read.
            self.cut = self.cut or "added ubatch to split" in text
            if not self.cut and ROW.search(text):
                raise ValueError("a row of no batch")
            return
        if " W srv " in text and "purging slot" in text or (
                " off = " in text and " ret = " in text):
            self.batch = None  # it was not computed
            return
        m = SLOT.search(text)
        if m is None:
            self._server(text)
            return
        self._settle()
        self._slot_line(self.slot(int(m.group(1))), int(m.group(2)),
                        m.group(3))

    def end(self):
        self._settle()
        if self.rows is not None:
            self.waiting.append((None, self.ops, self.when))
        self._flush(True)

    # ---- batches

    def _in_batch(self, text):
        """Whether the entry belongs to the printing of a batch."""
        if "input batch info" in text:
            if self.rows is not None:
                raise ValueError("a batch did not end")
            self._settle()
            self.rows = []
            self.cut = False
            return True
        row = ROW.search(text)
        if row is not None:
            number, mask = int(row.group(1)), row.group(5)
            if number != len(self.rows):
                raise ValueError("a row is missing")
            one = int(row.group(4)) == 1
            self.rows.append((int(row.group(2)), int(row.group(3)),
                              max(i for i, c in enumerate(mask) if c != "."),
                              row.group(6) == "1") if one else None)
        elif re.search(r"ubatch_print: +\d+: \[embd\]", text):
            self.rows.append(None)
        elif ROWS_END.search(text):
            if not self.rows:
                raise ValueError("a batch of no row")
            self.batch = self.rows, self.when
            self.rows = None
        else:
            return " D ubatch_print:" in text
        return True

    def _settle(self):
        """What came last went well."""
        if self.saving:
            self._save()
        if self.batch is not None:
            rows, when = self.batch
            self.batch = None
            self._computed(rows, when)

    def _computed(self, rows, when):
        if not self.serves:
            return  # the server tries its model out before it listens
        members = []
        if None in rows or any(self.slot(row[2]).request is None
                               for row in rows):
            # Rows of several sequences, of no token, or of a request that we
            # did not see launched: nothing we can replay.
            self.waiting.append((None, self.ops, when))
            self.ops = []
            self._flush(False)
            return
        for token, position, number, output in rows:
            slot = self.slot(number)
            if (not members or members[-1][0] is not slot):
                members.append((slot, self._member(slot, position)))
            member = members[-1][1]
            member["n"] += 1
            member["ids"].append(token)
            slot.tokens.append(token)
            if output and slot.prompt is None:
                self._prompt(slot)
        self.waiting.append(([m for _, m in members], self.ops, when))
        self.ops = []
        self._flush(False)

    def _member(self, slot, position):
        if position > len(slot.tokens):
            raise ValueError("tokens are missing in slot %d" % slot.number)
        del slot.tokens[position:]
        member = {"id": "task:%s" % slot.request, "choice": slot.choice,
                  "start": position, "n": 0, "cached": 0, "ids": []}
        if slot.first is None:
            slot.first = member
            member["cached"] = position
            member["params"] = slot.params
            if slot.prompt is not None:  # copied: its prompt is another's
                member["prompt"] = slot.prompt
        return member

    @staticmethod
    def _prompt(slot):
        slot.prompt = list(slot.tokens)
        slot.first["prompt"] = slot.prompt

    def _flush(self, at_end):
        """Passes whose prompts are known; of the others at the end only that
        they were."""
        while self.waiting:
            members, ops, when = self.waiting[0]
            if any("params" in m and "prompt" not in m
                   for m in members or ()):
                if not at_end:
                    return
                members = None
            self.told(members, ops, when)
            self.waiting.pop(0)

    # ---- slots

    def _slot_line(self, slot, task, text):
        m = re.match(r"processing task, is_child = (\d)", text)
        if m is not None:
            self._launch(slot, task, m.group(1) == "1")
        elif text.startswith("sampler params:"):
            slot.params = {"slot": slot.number}
            for name, value in SETTING.findall(text):
                slot.params[name] = float(value)
        elif text.startswith(("selected slot by",
                              "saving idle slot to prompt cache")):
            self.chosen = slot
        elif text.startswith("clearing prompt with"):
            self._remove(slot, 0)
        elif re.match(r"cached n_tokens = \d+, memory_seq_rm \[\d+,", text):
            if slot.prompt is None and slot.first is None:
                self._remove(slot, int(re.search(r"\[(\d+),", text).group(1)))
        elif re.match(r"- copying (state|shared prompt .*) to child (\d+)",
                      text):
            self._copy(slot, self.slot(int(text.split()[-1])))
        elif "context shift" in text or "reusing chunk" in text:
            self.ops.append("shift %d" % slot.number)
        elif text.startswith("stop processing"):
            self._released(slot)

    def _launch(self, slot, task, child):
        self.serves = True
        params = slot.params
        if child and self.parent is not None:
            slot.take(self.parent[0], self.parent[1])
            self.parent[1] += 1
        else:
            slot.take(task, 0)
            self.parent = None
        slot.params = params

    def _remove(self, slot, position):
        self.ops.append("R %d %d" % (slot.number, position))
        del slot.tokens[position:]

    def _copy(self, slot, other):
        self._remove(other, 0)  # what it held, without a word
        self.ops.append("C %d %d" % (slot.number, other.number))
        other.tokens = list(slot.tokens)
        other.prompt = slot.prompt

    def _released(self, slot):
        if slot.first is not None and "prompt" not in slot.first:
            # Its client left before the prompt was done: there is at least one
            # token more, so that nobody takes the last one for the prompt's.
            slot.prompt = slot.tokens + slot.tokens[-1:]
            slot.first["prompt"] = slot.prompt
            self._flush(False)

    # ---- the prompt cache in memory

    def _server(self, text):
        m = re.search(r"launching slots for parent task id_task = (\d+)", text)
        if m is not None:
            self._settle()
            self.parent = [int(m.group(1)), 1]
        elif " - saving prompt with length" in text:
            self._settle()
            self.saving = True
            length = int(re.search(r"length (\d+),", text).group(1))
            if length != len(self.chosen.tokens):
                self.ops.append("lost %d" % self.chosen.number)
        elif ("prompt is already in the cache, skipping" in text or
              "exceeds cache size limit" in text or
              "failed to allocate memory for prompt cache" in text):
            self.saving = False
        elif "removing obsolete cached prompt" in text:
            pass  # _save finds the same ones
        elif "removing oldest entry" in text:
            if self.saved:
                self.saved.pop(0)
        elif "found better prompt with" in text:
            self._settle()
            self.loading = self.chosen
        elif "failed to restore state" in text:
            self.loading = None
        elif " - cache state: " in text:
            self._settle()
            n = int(re.search(r"cache state: (\d+) prompts", text).group(1))
            self.listing = [n]
            self._listed()
        elif re.search(r"   - prompt 0x[0-9a-f]+:", text):
            if self.listing is not None:
                m = re.search(r"(0x[0-9a-f]+): +(\d+) tokens", text)
                self.listing.append((m.group(1), int(m.group(2))))
                self._listed()
        elif "looking for better prompt" in text or (
                " que " in text and "start_loop" in text):
            self._settle()

    def _save(self):
        """Cached prompts that the new one begins with are thrown away."""
        self.saving = False
        tokens = list(self.chosen.tokens)
        self.saved = [s for s in self.saved
                      if tokens[:len(s.tokens)] != s.tokens]
        self.saved.append(Saved(self.saves, tokens))
        self.ops.append("S %d %d" % (self.chosen.number, self.saves))
        self.saves += 1

    def _listed(self):
        """All states are listed: the one that is missing was loaded."""
        if len(self.listing) != self.listing[0] + 1:
            return
        listed = self.listing[1:]
        self.listing = None
        if self.loading is not None:
            self._load(listed)
        if not self._are(self.saved, listed):
            # Not what we think was saved: whichever is loaded is not known.
            self.saved = [Saved(None, [None] * n) for _, n in listed]
        for saved, (place, _) in zip(self.saved, listed):
            saved.place = place

    @staticmethod
    def _are(saved, listed):
        return [len(s.tokens) for s in saved] == [n for _, n in listed] and all(
            s.place in (None, place) for s, (place, _) in zip(saved, listed))

    def _load(self, listed):
        slot, self.loading = self.loading, None
        left = [i for i in range(len(self.saved))
                if self._are(self.saved[:i] + self.saved[i + 1:], listed)]
        if len(left) != 1 or self.saved[left[0]].number is None:
            raise ValueError("which state was loaded?")
        saved = self.saved.pop(left[0])
        slot.tokens = list(saved.tokens)
        self.ops.append("L %d %d" % (slot.number, saved.number))


def print_plan(members, ops, _):
    """A pass as lines of recompute/engine/llama/schedule/schedule.h."""
    if members is None:
        sys.exit("llama_log: a batch that no plan can tell")
    lines = list(ops)
    for member in members:
        if "params" in member:
            print_plan.ends[member["id"], member["choice"]] = (
                len(member["prompt"]), member["params"]["slot"])
        n_prompt, slot = print_plan.ends[member["id"], member["choice"]]
        for i, token in enumerate(member["ids"]):
            position = member["start"] + i
            lines.append("T %d %d %d %d" % (token, position, slot,
                                            position >= n_prompt - 1))
    print("\n".join(lines + ["U"]))


print_plan.ends = {}


def feed_to(url, engine):
    """A `told` that sends, and its feed."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import assay_feed

    feed = assay_feed.StepFeed(url, engine, names="engine")
    count = [0]

    def told(members, ops, when):
        if members is None:
            feed.lose()
        else:
            feed.step(count[0], members, ops=ops, time_ns=when)
        count[0] += 1

    return told, feed


def pass_on(entry):
    """What is no debug line goes on, for as long as somebody takes it."""
    m = STAMP.match(entry)
    if pass_on.taken and (m is None or m.group(5) != "D"):
        try:
            sys.stderr.write(entry.encode("utf-8", "replace").decode() + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            pass_on.taken = False


pass_on.taken = True


def serve(command, reader):
    """Runs the server and reads its log to the end, which signals bring about
    by ending the server: what it wrote until then counts."""
    env = dict(os.environ, LLAMA_BATCH_DEBUG="1")
    server = subprocess.Popen(
        command + ["-lv", "5", "--log-timestamps", "--log-prefix"], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", errors="surrogateescape")

    def end(signum, _):
        server.send_signal(signum)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    for entry in entries(server.stdout):
        reader.entry(entry)
        pass_on(entry)
    reader.end()
    return server.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--to", help="URL of the tap's feed listener")
    p.add_argument("--engine", default="llama.cpp")
    p.add_argument("--plan", action="store_true", help="print, do not send")
    p.add_argument("--log", help="with --plan: a log instead of stdin")
    p.add_argument("command", nargs="*")
    a = p.parse_args()
    if a.plan:
        source = open(a.log or 0, encoding="utf-8", errors="surrogateescape")
        reader = Reader(print_plan)
        for entry in entries(source):
            reader.entry(entry)
        reader.end()
        return 0
    if not a.to or not a.command:
        p.error("--to and a command, or --plan")
    told, feed = feed_to(a.to, a.engine)
    status = serve(a.command, Reader(told))
    if not feed.close(CLOSE_S):
        sys.stderr.write("llama_log: %d messages were not sent\n" %
                         feed.dropped)
        status = status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
