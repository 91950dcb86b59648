# SPDX-License-Identifier: Apache-2.0
"""cheats - what a provider may do in the stead of what was declared: functions
for a relay (relay.py), each on the body of a request or of an answer.
"""

import json


def changed(change):
    """A relay's request: its body after change(body)."""
    def request(path, body):
        body = json.loads(body)
        change(body)
        return json.dumps(body).encode()
    return request


def another_seed(body):
    body["seed"] += 1


def a_lower_top_p(body):
    body["top_p"] = 0.1


def a_hidden_system_prompt(body):
    if "messages" in body:
        body["messages"].insert(0, {"role": "system", "content": "Be sad."})


def alter_a_token(path, body):
    """Token 3 of a completion's answer becomes another."""
    if path != "/v1/completions":
        return body
    answer = json.loads(body)
    token = answer["choices"][0]["logprobs"]["content"][3]
    token["id"] = token["id"] + 1 if token["id"] < 500 else 300
    return json.dumps(answer).encode()


def answer_from_a_cache():
    """A relay's answer: every native one is the first."""
    kept = []

    def answer(path, body):
        if path == "/completion":
            kept.append(body)
            return kept[0]
        return body
    return answer


def without_message(number):
    """A feed's post: without the message of this number."""
    def told(path, body):
        return b"".join(line for line in body.splitlines(True)
                        if json.loads(line)["seq"] != number)
    return told
