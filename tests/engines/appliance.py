# SPDX-License-Identifier: Apache-2.0
"""appliance - a whole appliance on loopback: store, tap, workers, one epoch.

Comes in: the build directory, and a directory that declares a deployment. Goes
out: verdicts and findings of everything that was sent in between.
"""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
from held_port import held_port  # noqa: E402

TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def wait(what, seconds, ready):
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise AssertionError("%s did not come" % what)
        time.sleep(0.1)


class Appliance:
    """Use it as `with Appliance(...) as a`: start(), tap(), close_epoch()."""

    worker = "recompute/assay-recompute"
    others = ()  # directories of models beside the declared one

    def __init__(self, build, declared, model, engine_port):
        self.build, self.declared, self.model = build, declared, model
        self.port = engine_port
        self.feed_port = held_port()
        self.top = tempfile.mkdtemp(prefix="assay-engines-")
        self.conf = os.path.join(self.top, "assay.conf")
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.tails()
        # One after the other: the tap tells the store how it ends.
        for child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self.top)

    def tails(self):
        for name in sorted(os.listdir(self.top)):
            if name.endswith(".log"):
                with open(os.path.join(self.top, name),
                          errors="replace") as f:
                    print("--", name, *f.readlines()[-8:], sep="\n   ")

    def log(self, name):
        return os.path.join(self.top, name + ".log")

    def spawn(self, name, *command):
        with open(self.log(name), "wb") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log)
        self.children.append(child)
        return child

    def stop(self, child, seconds=600):
        """Asks it to end, and waits until it did what it had left to do; its
        exit status."""
        child.send_signal(signal.SIGTERM)
        return child.wait(seconds)

    def program(self, name, *arguments, **how):
        return subprocess.run(
            [os.path.join(self.build, name), "-c", self.conf, *arguments],
            check=True, stdout=subprocess.PIPE, text=True,
            **how).stdout

    def chain(self, *arguments):
        out = subprocess.run(
            [os.path.join(self.build, "sampler/assay-sampler"), "chain",
             *arguments, os.path.join(self.top, "chain")], check=True,
            stdout=subprocess.PIPE, text=True).stdout
        return out.split("\n")[-2]

    def start(self, threads=0):
        with open(self.conf, "w") as f:
            f.write('''origin = "engines.assay.example/unit-1";
store: { state_dir = "%(top)s/state"; run_dir = "%(top)s/run"; };
tap: { name = "engines"; interface = "lo"; interval_s = 1;
       filter = "tcp port %(port)d"; feed_listen = "127.0.0.1:%(feed)d"; };
recompute: { models = [ %(models)s ];
             recipes = "%(tree)s/config/recipes"; threads = %(threads)d; };
''' % {"top": self.top, "port": self.port, "feed": self.feed_port,
                "models": ", ".join('"%s"' % d for d in
                                    (self.declared, *self.others)),
                "tree": TREE, "threads": threads})
        self.spawn("store", self.build + "/store/assay-store", "-c",
                   self.conf)
        wait("the store", 120, lambda: os.path.exists(
            os.path.join(self.top, "run", "tap.sock")))
        self.register(self.model, self.declared)
        self.program("sampler/assay-sampler", "enrol", "auditor",
                     self.chain("new", "--length", "100"))
        policy = os.path.join(self.top, "policy")
        with open(policy, "w") as f:
            f.write("assay-policy/v1\nconfidence 99%\nparty auditor\n"
                    "reveal_within 600\nanswer_within 3600\n"
                    "stratum all any draw all\n")
        self.program("sampler/assay-sampler", "policy", policy)
        self.recompute = self.spawn(
            "recompute", os.path.join(self.build, self.worker), "-c",
            self.conf)
        self.spawn("compare", self.build + "/recompute/assay-compare", "-c",
                   self.conf)

    def register(self, model, directory):
        self.program(self.worker, "register", model, directory)

    def tap(self):
        self.spawn("tap", os.environ.get("ASSAY_TAP") or
                   self.build + "/tap/assay-tap", "-c", self.conf)

        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.feed_port)) == 0

        wait("the tap", 120, listens)

    def query(self, sql, *values):
        db = sqlite3.connect("file:%s/state/index.db?mode=ro" % self.top,
                             uri=True)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    def recorded(self):
        return self.query("SELECT count(*) FROM exchange WHERE api<>''")[0][0]

    def close_epoch(self, seconds=600):
        """Seals, draws all, and waits for a verdict of each."""
        # Exits 75: what it waits for is the reveal.
        subprocess.run([self.build + "/sampler/assay-sampler", "-c",
                        self.conf, "close"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        self.program("sampler/assay-sampler", "reveal", "auditor",
                     self.chain("next"))
        wait("a draw", 60, lambda: self.query("SELECT 1 FROM draw"))
        wait("a verdict for each drawn request", seconds, self.judged)

    def judged(self):
        drawn = self.query("SELECT count(*) FROM draw_drawn")[0][0]
        return drawn > 0 and self.query(
            "SELECT count(*) FROM verdict")[0][0] >= drawn

    def verdicts(self):
        """One dictionary a drawn request, in the order of their record."""
        keys = ("verdict", "class", "reason", "choice", "position", "tokens",
                "logprobs", "logprobs_differ", "route", "level", "envelope")
        rows = self.query("SELECT x.api,x.api_id,v.%s FROM verdict v JOIN "
                          "exchange x ON x.unit=v.object ORDER BY x.seq" %
                          ",v.".join(keys))
        return [dict(zip(("api", "api_id") + keys, row)) for row in rows]

    def findings(self):
        return [row[0] for row in self.query("SELECT class FROM finding")]

    def losses(self):
        """What the tap did not see or not understand, by its cause."""
        return dict(self.query(
            "SELECT cause, sum(count) FROM (SELECT cause, count FROM loss "
            "UNION ALL SELECT cause, count FROM unparsed) GROUP BY cause"))


def summary(verdicts):
    """What was judged how, counted, as text."""
    counts = {}
    for v in verdicts:
        key = " ".join(str(v[k]) for k in
                       ("verdict", "class", "reason", "route", "level",
                                   "envelope"))
        counts[key] = counts.get(key, 0) + 1
    return json.dumps(counts, indent=1)
