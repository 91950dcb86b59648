#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_replay.py BUILD - how fast captured answers of a real llama-server are
run again, beside the server's own timings; and what memory workers share.

Comes in: the build directory. Goes out: "key value unit" lines. For each type
of weights the server answers the same requests twice, one after the other:
alone, which gives its timings, and with its log as feed, which is captured,
drawn whole, and run again by assay-recompute on as many threads.

Environment: THREADS (1), of either. Where the machine does other work the
figures in CPU seconds hold, those of the clock do not.
"""

import json
import os
import sys
import tempfile
import urllib.request

import appliance
import llama_server
from held_port import held_port

BUILD = os.path.abspath(sys.argv[1])
TYPES = sys.argv[2:] or ["bf16", "q8_0", "q6_k"]
READER = os.path.join(appliance.TREE, "tap", "plugins", "llama_log.py")
THREADS = int(os.environ.get("THREADS", "1"))
FLAGS = ["-np", "1", "-c", "2048", "-cram", "0", "-t", str(THREADS)]
REQUESTS, PROMPT_CHARS, PREDICTED = 4, 1600, 64


def figure(key, value, unit):
    print("%-34s %14s %s" % (key, value, unit), flush=True)


def bodies():
    with open(os.path.join(appliance.TREE, "docs", "architecture.md"),
              encoding="utf-8") as f:
        text = f.read()
    for i in range(REQUESTS):
        at = i * len(text) // REQUESTS
        yield {"model": "m", "prompt": (text + text)[at:at + PROMPT_CHARS],
               "max_tokens": PREDICTED, "logprobs": 2, "seed": i,
               "temperature": 0.8, "cache_prompt": False}


def ask(port, body):
    """The timings of an answer."""
    request = urllib.request.Request(
        "http://127.0.0.1:%d/v1/completions" % port,
        json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=1800) as answer:
        return json.load(answer)["timings"]


def cpu_s(pid):
    """CPU seconds that a process has used."""
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def timings(a, port, name, command):
    """Of all requests, by a server that is started for them and ended; and the
    CPU seconds of the process for them."""
    engine = a.spawn(name, *command)
    appliance.wait("the server", 600,
                   lambda: llama_server.is_up(a.log(name), engine))
    ask(port, dict(next(bodies()), prompt="Once", max_tokens=1))
    before = cpu_s(engine.pid)
    told = [ask(port, body) for body in bodies()]
    used = cpu_s(engine.pid) - before
    engine.terminate()
    engine.wait(600)
    return told, used


def total(told, what):
    return sum(t[what] for t in told)


def memory(pid, path):
    """MiB of a process: Rss and Pss of a file's pages, and Pss of all else."""
    sums = {"Rss:": [0, 0], "Pss:": [0, 0]}
    of_file = False
    with open("/proc/%d/smaps" % pid, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if "-" in words[0]:
                of_file = words[-1] == path
            elif words[0] in sums:
                sums[words[0]][of_file] += int(words[1]) / 1024
    return sums["Rss:"][True], sums["Pss:"][True], sums["Pss:"][False]


def two_workers(a, kind, declared, gguf):
    """The one that has run all, and a second one that runs an answer, when it
    has come by as much of the file."""
    jobs = os.path.join(a.top, "state", "jobs")
    job = max((os.path.join(jobs, name) for name in os.listdir(jobs)
               if name.endswith(".job")), key=os.path.getsize)
    workers = [a.recompute, a.spawn(
        "second", BUILD + "/recompute/assay-recompute", "-c", a.conf,
        "replay", job, "--against", declared, "--repeat", "100")]
    enough = memory(workers[0].pid, gguf)[0] * 0.9
    appliance.wait("the second worker", 600, lambda: memory(
        workers[1].pid, gguf)[0] > enough)
    figure(kind + "_file", "%.0f" % (os.path.getsize(gguf) / 2**20), "MiB")
    for i, worker in enumerate(workers):
        for what, mib in zip(("file_rss", "file_pss", "other_pss"),
                             memory(worker.pid, gguf)):
            figure("%s_worker_%d_%s" % (kind, i + 1, what), "%.1f" % mib,
                   "MiB")


def replayed(a):
    """Seconds of one run of each answer, without the one that warmed the
    server; and how often each was run."""
    rows = a.query("SELECT min(r.elapsed_ns),count(*) FROM result r JOIN "
                   "exchange x ON x.unit=r.object GROUP BY r.object "
                   "ORDER BY x.seq")
    return sum(row[0] for row in rows[1:]) / 1e9, rows[0][1]


def bench(kind):
    gguf = llama_server.model("smollm2-135m-" + kind)
    port = held_port()
    with tempfile.TemporaryDirectory() as top:
        declared = os.path.join(top, "declared")
        llama_server.deployment(declared, gguf, FLAGS, THREADS)
        with appliance.Appliance(BUILD, declared, "m", port) as a:
            server = [llama_server.binary("llama-server"), "-m", gguf, "-a",
                      "m", "--host", "127.0.0.1", "--port", str(port), *FLAGS]
            told, used = timings(a, port, "alone", server)
            a.start(THREADS)
            a.tap()
            timings(a, port, "engine", [
                sys.executable, READER, "--to",
                "http://127.0.0.1:%d" % a.feed_port, "--", *server])
            appliance.wait("the record", 600,
                           lambda: a.recorded() > REQUESTS)
            before = cpu_s(a.recompute.pid)
            a.close_epoch(3600)
            runs = report(kind, told, a)
            ratio(kind + "_cpu", used,
                  (cpu_s(a.recompute.pid) - before) / runs)
            two_workers(a, kind, declared, os.path.realpath(gguf))


def ratio(key, server, replay):
    figure(key + "_server", "%.2f" % server, "s")
    figure(key + "_replay", "%.2f" % replay, "s")
    figure(key + "_replay_to_server", "%.2f" % (server / replay), "times")


def report(kind, told, a):
    match = sum(v["verdict"] == "MATCH" for v in a.verdicts())
    figure(kind + "_match", "%d/%d" % (match, REQUESTS + 1), "answers")
    n, m = total(told, "prompt_n"), total(told, "predicted_n")
    prompt_s = total(told, "prompt_ms") / 1e3
    predicted_s = total(told, "predicted_ms") / 1e3
    figure(kind + "_server_prompt", "%.1f" % (n / prompt_s), "tokens/s")
    figure(kind + "_server_predicted", "%.1f" % (m / predicted_s), "tokens/s")
    replay_s, runs = replayed(a)
    ratio(kind + "_clock", prompt_s + predicted_s, replay_s)
    return runs


if __name__ == "__main__":
    for each in TYPES:
        bench(each)
