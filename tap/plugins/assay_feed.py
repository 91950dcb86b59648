# SPDX-License-Identifier: Apache-2.0
"""assay_feed - tells an engine's batches to assay-tap (docs/batch-feed.md).

Comes in: one call of step() for each forward pass, from an engine's scheduler.
Goes out: messages batch-step/1 as NDJSON in HTTP/1.1 POSTs on one connection
that is kept. Needs nothing but Python 3.8.

It never slows or kills the engine: step() puts the message in a bounded queue
and returns. A thread makes text of it and sends it, again and again until it is
answered, for as long as the process lives: a listener that is slow or away
costs memory alone, at most `queue` messages and `backlog` bytes of text. What
these do not hold is dropped. Numbers are given in step(), so whatever is
dropped shows as a gap. Nothing it does raises.
"""

import collections
import http.client
import json
import re
import secrets
import threading
import time
import urllib.parse

MESSAGE_MAX = 1 << 20
POST_BYTES = 256 * 1024
POST_MESSAGES = 1024  # of one POST: fewer than the tap remembers as seen
BACKLOG_MAX = 256 << 20
QUEUE_MAX = 65536
TIMEOUT_S = 30
RETRY_S = (0.1, 0.5, 2.0)  # the last one for good


def prompt_digest(ids):
    """SHA-256 of the prompt's token ids as big-endian u32, in hex."""
    import hashlib

    return hashlib.sha256(
        b"".join(int(i).to_bytes(4, "big") for i in ids)).hexdigest()


def vllm_request(engine_id):
    """(id, choice) of the API's answer from a vLLM scheduler's request id.

    The scheduler knows "1_cmpl-X-0-8f85f248": child 1 of n, the answer's id,
    the index of the prompt in a list, eight random digits. Choices of several
    prompts with n > 1 are told apart by prompt * 65536 + child.
    """
    m = re.fullmatch(r"(?:(\d+)_)?(.+?)(?:-[0-9a-f]{8})?", engine_id)
    child, name, prompt = m.group(1), m.group(2), None
    indexed = re.fullmatch(r"(cmpl-.+)-(\d+)|(resp_.+)_(\d+)", name)
    if indexed:
        name = indexed.group(1) or indexed.group(3)
        prompt = int(indexed.group(2) or indexed.group(4))
    if child is None:
        return name, prompt or 0
    return name, (prompt or 0) * 65536 + int(child)


def _line(message):
    """The message as one line; a prompt too long for it becomes its digest."""
    text = json.dumps(message, separators=(",", ":")) + "\n"
    if len(text) <= MESSAGE_MAX:
        return text.encode()
    members = []
    for member in message["members"]:
        if "prompt" in member:
            member = dict(member)
            ids = member.pop("prompt")
            member["prompt_digest"] = prompt_digest(ids)
            member["prompt_n"] = len(ids)
        members.append(member)
    text = json.dumps(dict(message, members=members),
                      separators=(",", ":")) + "\n"
    return text.encode() if len(text) <= MESSAGE_MAX else None


class StepFeed:
    """One engine instance's feed. Make it in the process that schedules."""

    def __init__(self, url, engine, queue=QUEUE_MAX, backlog=BACKLOG_MAX,
                 timeout=TIMEOUT_S, names="answers"):
        """names: whose ids the members carry, "answers" or "engine"."""
        if names not in ("answers", "engine"):
            raise ValueError("names: neither answers nor engine")
        parts = urllib.parse.urlsplit(url)
        self._host, self._port = parts.hostname, parts.port or 80
        self._path = parts.path.rstrip("/")
        if not self._path.endswith("/assay/v1/steps"):
            self._path += "/assay/v1/steps"
        self._engine, self._names = engine, names
        self._feed = secrets.token_hex(8)
        self._seq = 0
        self._queue = collections.deque()    # messages
        self._backlog = collections.deque()  # their lines, the next ones
        self._bytes = 0                      # of the backlog
        self._queue_max, self._backlog_max = queue, backlog
        self._timeout = timeout
        self._wake = threading.Condition()
        self._closing = False
        self._connection = None
        self.dropped = 0  # messages that no one will see
        self.sent = 0
        self._thread = threading.Thread(target=self._run, daemon=True,
                                        name="assay-feed")
        self._thread.start()

    def step(self, step, members, padded=0, ops=(), time_ns=None):
        """One forward pass; members as docs/batch-feed.md says, in the batch's
        order. The lists are kept, not copied: do not change them afterwards.
        """
        if time_ns is None:
            time_ns = time.time_ns()
        with self._wake:
            seq = self._seq
            self._seq += 1
            if self._closing or len(self._queue) >= self._queue_max:
                self.dropped += 1
                return
            self._queue.append((seq, step, time_ns, padded, members, ops))
            self._wake.notify()

    def lose(self):
        """A forward pass that step() cannot tell: its number is a gap."""
        with self._wake:
            self._seq += 1
            self.dropped += 1

    def close(self, timeout=2.0):
        """Sends what is queued, for at most timeout seconds; whether all of it
        went out. Never blocks longer; may be called twice."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout)
        with self._wake:  # what the thread still has is given up
            self.dropped += len(self._queue) + len(self._backlog)
            self._queue.clear()
            self._backlog.clear()
        return self.dropped == 0

    def _message(self, item):
        seq, step, time_ns, padded, members, ops = item
        message = {"assay": "batch-step/1", "engine": self._engine,
                   "feed": self._feed, "names": self._names,
                   "seq": seq, "step": step,
                   "time_ns": str(time_ns), "padded": padded,
                   "members": list(members)}
        if ops:
            message["ops"] = list(ops)
        return _line(message)

    def _write(self):
        """Queued messages become lines, as far as the backlog has room."""
        while self._bytes < self._backlog_max:
            with self._wake:
                if not self._queue:
                    return
                item = self._queue.popleft()  # nobody else takes
            try:
                line = self._message(item)
            except Exception:  # not JSON: the engine must not die of it
                line = None
            with self._wake:
                if line is None:
                    self.dropped += 1
                else:
                    self._backlog.append(line)
                    self._bytes += len(line)

    def _next(self):
        """Waits for lines; those of one POST, or none at the end."""
        lines, size = [], 0
        while True:
            self._write()
            with self._wake:
                if self._backlog:
                    break
                if self._queue:
                    continue
                if self._closing:
                    return []
                self._wake.wait()
        with self._wake:
            for line in self._backlog:
                if lines and (size + len(line) > POST_BYTES or
                              len(lines) == POST_MESSAGES):
                    break
                lines.append(line)
                size += len(line)
        return lines

    def _post(self, body):
        """One POST; whether it need not be sent again. What the answer says
        does not matter, except 503: the listener could not keep it."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(
                    self._host, self._port, timeout=self._timeout)
            self._connection.request(
                "POST", self._path, body,
                {"Content-Type": "application/x-ndjson"})
            answer = self._connection.getresponse()
            answer.read()
            return answer.status != 503
        except Exception:  # whatever it is, the feed goes on
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return False

    def _pause(self, seconds):
        """Between attempts; the queue is emptied meanwhile."""
        end = time.monotonic() + seconds
        while not self._closing and time.monotonic() < end:
            self._write()
            with self._wake:
                if not self._closing:
                    self._wake.wait(end - time.monotonic())
        if self._closing:
            time.sleep(RETRY_S[0])

    def _send(self, lines):
        """Until they are answered, or given up by close()."""
        body = b"".join(lines)
        attempt = 0
        while self._backlog and not self._post(body):
            self._pause(RETRY_S[min(attempt, len(RETRY_S) - 1)])
            attempt += 1
        with self._wake:
            if not self._backlog:
                return
            for line in lines:
                self._backlog.popleft()
                self._bytes -= len(line)
            self.sent += len(lines)

    def _run(self):
        try:
            lines = self._next()
            while lines:
                self._send(lines)
                lines = self._next()
        finally:
            if self._connection is not None:
                self._connection.close()
