# SPDX-License-Identifier: Apache-2.0
"""recording - a folder of exchanges with a llama-server, as replay-capture
reads them: NAME.req ("METHOD TARGET BODY"), NAME.resp, engine.json, and plan.txt
from the server's debug log.

Comes in: a model, flags, and waves of requests (path, body); those of one wave
are sent at once. Goes out: the folder.
"""

import concurrent.futures
import http.client
import json
import os
import signal
import subprocess
import sys
import time

import llama_server

sys.path.insert(0, os.path.join(llama_server.TREE, "tests"))
from held_port import held_port  # noqa: E402

READER = os.path.join(llama_server.TREE, "tap", "plugins", "llama_log.py")


def ask(folder, port, name, path, body):
    body = json.dumps(body, ensure_ascii=False).encode()
    with open(os.path.join(folder, name + ".req"), "wb") as f:
        f.write(b"POST %s %s" % (path.encode(), body))
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    c.request("POST", path, body, {"Content-Type": "application/json"})
    answer = c.getresponse().read()
    c.close()
    with open(os.path.join(folder, name + ".resp"), "wb") as f:
        f.write(answer)


def send(folder, port, waves):
    for w, wave in enumerate(waves):
        with concurrent.futures.ThreadPoolExecutor(len(wave)) as pool:
            sent = [pool.submit(ask, folder, port, "w%dr%d" % (w, i), *request)
                    for i, request in enumerate(wave)]
            for s in sent:
                s.result()


def record(folder, model, flags, waves):
    port = held_port()
    llama_server.deployment(folder, model, flags, os.cpu_count())
    log = os.path.join(folder, "server.log")
    with open(log, "wb") as f:
        server = subprocess.Popen(
            [llama_server.binary("llama-server"), "-m", model, "--host",
             "127.0.0.1", "--port", str(port), "-lv", "5", "--log-timestamps",
             "--log-prefix", *flags], stdout=f, stderr=subprocess.STDOUT,
            env=dict(os.environ, LLAMA_BATCH_DEBUG="1"))
    try:
        while not llama_server.is_up(log, server):
            time.sleep(0.05)
        send(folder, port, waves)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
    with open(os.path.join(folder, "plan.txt"), "wb") as f:
        subprocess.run([sys.executable, READER, "--plan", "--log", log],
                       check=True, stdout=f)
