# SPDX-License-Identifier: Apache-2.0
"""assay_feed - tells an engine's batches to assay-tap (docs/batch-feed.md).

Comes in: one call of step() for each forward pass, from an engine's scheduler.
Goes out: messages batch-step/1 as NDJSON in HTTP/1.1 POSTs on one connection
that is kept. Needs nothing but Python 3.8.

It never slows or kills the engine: step() puts the message in a bounded queue
and returns; a full queue drops it. Numbers are given in step(), so whatever is
dropped later shows as a gap. Nothing it does raises.
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
BATCH_MAX = 256 * 1024
TIMEOUT_S = 5
RETRY_S = (0.1, 0.5, 2.0)


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

    def __init__(self, url, engine, queue=4096):
        parts = urllib.parse.urlsplit(url)
        self._host, self._port = parts.hostname, parts.port or 80
        self._path = parts.path.rstrip("/")
        if not self._path.endswith("/assay/v1/steps"):
            self._path += "/assay/v1/steps"
        self._engine = engine
        self._feed = secrets.token_hex(8)
        self._seq = 0
        self._queue = collections.deque()
        self._room = queue
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
            if self._closing or len(self._queue) >= self._room:
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
        return not self._thread.is_alive() and self.dropped == 0

    def _message(self, item):
        seq, step, time_ns, padded, members, ops = item
        message = {"assay": "batch-step/1", "engine": self._engine,
                   "feed": self._feed, "seq": seq, "step": step,
                   "time_ns": str(time_ns), "padded": padded,
                   "members": list(members)}
        if ops:
            message["ops"] = list(ops)
        return _line(message)

    def _take(self):
        """Waits for messages; up to BATCH_MAX bytes of lines and their number,
        or None at the end."""
        lines, size = [], 0
        with self._wake:
            while not self._queue and not self._closing:
                self._wake.wait()
            if not self._queue:
                return None
        while self._queue and size < BATCH_MAX:
            item = self._queue.popleft()  # nobody else takes
            try:
                line = self._message(item)
            except Exception:  # not JSON: the engine must not die of it
                line = None
            if line is None:
                self.dropped += 1
            else:
                lines.append(line)
                size += len(line)
        return lines

    def _post(self, body):
        """One POST; whether it need not be sent again. What the answer says
        does not matter, except 503: the listener could not keep it."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(
                    self._host, self._port, timeout=TIMEOUT_S)
            self._connection.request(
                "POST", self._path, body,
                {"Content-Type": "application/x-ndjson"})
            answer = self._connection.getresponse()
            answer.read()
            return answer.status != 503
        except (OSError, http.client.HTTPException):
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return False

    def _send(self, lines):
        body = b"".join(lines)
        for wait in RETRY_S + (None,):
            if self._post(body):
                self.sent += len(lines)
                return
            if wait is None or self._closing:
                break
            time.sleep(wait)
        self.dropped += len(lines)

    def _run(self):
        while True:
            try:
                lines = self._take()
                if lines is None:
                    break
                if lines:
                    self._send(lines)
            except Exception:  # a bug here must not end the engine's feed
                self.dropped += 1
        if self._connection is not None:
            self._connection.close()
