#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clients - sends requests to a server as its users do: by curl and by the
openai client for Python, several at once.

Comes in: requests, (path, body) each. Goes out: traffic. The openai client is
the PyPI package, in a cached environment of its own, whose Python runs this
file with the requests on its standard input:

    clients.py PORT AT_ONCE < REQUESTS
"""

import concurrent.futures
import json
import os
import subprocess
import sys

MODEL = "m"
PACKAGE = "openai==3.57.0"
OPENINGS = ["Once upon a time", "Lily and Tom", "The big dog", "One day, a",
            "There was a little", "In the park,", "A small bird", "Mom said"]


def request(i, stream=False, n=1, of=None):
    """Path and body of request i, one of every kind; n answers, where the API
    has them; the text may be that of another request."""
    t = i if of is None else of
    text = "%s %s" % (OPENINGS[t % 8], "and then %d " % t * (1 + t % 9))
    body = {"model": MODEL, "seed": 1000 + i, "stream": stream,
            "temperature": (0, 0.8, 1.1)[i % 3]}
    tokens = 12 + i % 21
    if i % 3 == 0:
        body.update(prompt=text, n_predict=tokens, n_probs=i % 5)
        return "/completion", body
    body.update(max_tokens=tokens)
    if n > 1:
        body.update(n=n)
    if i % 3 == 1:
        body.update(prompt=text, logprobs=1 + i % 4)
        return "/v1/completions", body
    body.update(messages=[{"role": "user", "content": text}], logprobs=True,
                top_logprobs=1 + i % 4)
    return "/v1/chat/completions", body


def many(count):
    """Requests of all kinds: half of them streamed, each tenth for several
    answers where it can be, each sixth with a prompt that another one under way
    has, and a seed of its own."""
    return [request(i, i // 2 % 2 == 1, 2 + i % 2 if i % 10 in (4, 7) else 1,
                    i - 3 if i % 12 in (10, 11) else None)
            for i in range(count)]


def by_openai(i, path):
    """Half of them all: the third that is native has curl alone."""
    return path != "/completion" and i % 4 != 0


def send_curl(port, path, body):
    subprocess.run(["curl", "-sSf", "-o", os.devnull, "-H",
                    "Content-Type: application/json", "-d", "@-",
                    "http://127.0.0.1:%d%s" % (port, path)], check=True,
                   input=json.dumps(body).encode())


def send_openai(port, path, body):
    import openai

    with openai.OpenAI(base_url="http://127.0.0.1:%d/v1" % port, api_key="-",
                       max_retries=0, timeout=3600) as client:
        api = (client.chat.completions if "chat" in path
               else client.completions)
        answer = api.create(**body)
        if body["stream"]:
            for _ in answer:
                pass


def python():
    """The Python of the client's environment, which is made if missing."""
    import llama_server

    return llama_server.venv("venv-openai", PACKAGE)


def send(port, requests, at_once=8):
    """Sends all of them, and raises if one fails."""
    subprocess.run([python(), os.path.abspath(__file__), str(port),
                    str(at_once)], check=True,
                   input=json.dumps(requests).encode())


def main():
    port, at_once = int(sys.argv[1]), int(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(send_openai if by_openai(i, path)
                                 else send_curl, port, path, body)
                     for i, (path, body) in enumerate(json.load(sys.stdin))]:
            done.result()


if __name__ == "__main__":
    main()
