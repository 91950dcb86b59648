# SPDX-License-Identifier: Apache-2.0
"""scenario - a real llama-server beside a whole appliance, from first request
to verdicts.

Comes in: what is declared, what is served, and requests. Goes out: what was
judged how.
"""

import contextlib
import os
import sys
import tempfile

import appliance
import clients
import llama_server
import relay
from held_port import held_port

READER = os.path.join(appliance.TREE, "tap", "plugins", "llama_log.py")


class Scenario:
    """What is declared, and what is served in its stead: another GGUF file,
    other flags, a relay that changes requests or answers. With a feed the
    server is started by the log reader; `told` changes what that posts."""

    def __init__(self, model, flags=(), feed=True, served=None,
                 served_flags=None, told=None, **relay):
        self.gguf, self.flags, self.feed = model, list(flags), feed
        self.served = served or model
        self.served_flags = self.flags if served_flags is None else served_flags
        self.told, self.relay = told, relay


class Outcome:
    """Verdicts in the order of their record; findings; what the tap did not
    see."""

    def __init__(self, a):
        self.verdicts, self.findings = a.verdicts(), a.findings()
        self.losses = a.losses()

    def __str__(self):
        return "%s findings %s losses %s" % (
            appliance.summary(self.verdicts), self.findings, self.losses)


def command(scenario, port, feed_port):
    server = [llama_server.binary("llama-server"), "-m", scenario.served, "-a",
              clients.MODEL, "--host", "127.0.0.1", "--port", str(port),
              *scenario.served_flags]
    if not scenario.feed:
        return server
    return [sys.executable, READER, "--to", "http://127.0.0.1:%d" % feed_port,
            "--", *server]


def drive(a, scenario, requests):
    """Serves, sends, and ends the server: what its feed had to tell is told
    when it has ended."""
    engine_port = held_port() if scenario.relay else a.port
    feed_port = held_port() if scenario.told else a.feed_port
    engine = a.spawn("engine", *command(scenario, engine_port, feed_port))
    with contextlib.ExitStack() as relays:
        if scenario.told:
            relays.enter_context(contextlib.closing(
                relay.Relay(feed_port, a.feed_port, scenario.told)))
        appliance.wait("the server", 600,
                       lambda: llama_server.is_up(a.log("engine"), engine))
        if scenario.relay:
            relays.enter_context(contextlib.closing(
                relay.Relay(a.port, engine_port, **scenario.relay)))
        clients.send(a.port, requests)
        appliance.wait("the record", 600,
                       lambda: a.recorded() >= len(requests))
        status = a.stop(engine)
        if status != 0:
            raise AssertionError("the server ended with %d" % status)


def judge(build, scenario, requests):
    """The outcome of these requests, all of them drawn."""
    with tempfile.TemporaryDirectory() as top:
        declared = os.path.join(top, "declared")
        llama_server.deployment(declared, scenario.gguf, scenario.flags,
                                os.cpu_count())
        with appliance.Appliance(build, declared, clients.MODEL,
                                 held_port()) as a:
            a.start()
            a.tap()
            drive(a, scenario, requests)
            a.close_epoch(3600)
            outcome = Outcome(a)
    print(outcome, flush=True)
    return outcome
