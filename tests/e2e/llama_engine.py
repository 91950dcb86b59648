#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llama_engine - the demo's llama-server, and a front end that cheats.

    llama_engine.py prepare DIR
        builds the server if it is not there yet and prints its path; writes
        the directory that declares it, with the stories model
    llama_engine.py front PORT ENGINE_PORT K LOG
        passes requests on to the engine and answers back; the K-th answer of
        a completion, counted from 1, has another third token, and its id is
        written to LOG
"""

import json
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "engines"))
import llama_server  # noqa: E402
import relay  # noqa: E402

STORIES = os.path.join(HERE, "..", "engines", "stories260k", "model.gguf")


def prepare(declared):
    server = llama_server.binary("llama-server")
    llama_server.deployment(declared, os.path.abspath(STORIES), [],
                            os.cpu_count())
    print(server)


def replace(choice, at):
    """Token `at` of a choice becomes one that the engine ranked lower."""
    tokens = choice["logprobs"]["content"]
    was = tokens[at]
    other = next(t for t in was["top_logprobs"] if t["id"] != was["id"])
    before = "".join(t["token"] for t in tokens[:at])
    rest = choice["text"][len(before) + len(was["token"]):]
    choice["text"] = before + other["token"] + rest
    was.update({k: other[k] for k in ("id", "token", "bytes")})


class Altering:
    """An answer function of relay.py: one token of the K-th is another."""

    def __init__(self, k, log):
        self.left, self.log, self.lock = k, log, threading.Lock()

    def its_turn(self):
        with self.lock:
            self.left -= 1
            return self.left == 0

    def __call__(self, path, body):
        if path != "/v1/completions" or not self.its_turn():
            return body
        return self.alter(body)

    def alter(self, body):
        """Of a whole answer, or of the third event of a stream."""
        stream = body.startswith(b"data: ")
        events = body.split(b"\n\n") if stream else [body]
        at = 2 if stream else 0
        answer = json.loads(events[at][len(b"data: ") if stream else 0:])
        replace(answer["choices"][0], 0 if stream else 2)
        with open(self.log, "w", encoding="ascii") as f:
            print("altered-token", answer["id"], file=f)
        events[at] = (b"data: " if stream else b"") + json.dumps(
            answer).encode()
        return b"\n\n".join(events)


def front(port, engine_port, k, log):
    relay.Relay(int(port), int(engine_port), answer=Altering(int(k), log))
    print("listening", flush=True)


if __name__ == "__main__":
    {"prepare": prepare, "front": front}[sys.argv[1]](*sys.argv[2:])
