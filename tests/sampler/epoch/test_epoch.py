#!/usr/bin/env python3
"""test_epoch.py - epochs from close to certificate against a real assay-store:
one by hand, one by the daemon, some while everything is being killed; each is
exported and verified by assay-verify and by the oracle.

    test_epoch.py STORE SAMPLER EXPORT VERIFY STAND_IN
"""
import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

POLICY = """assay-policy/v1
confidence 95%
party auditor
reveal_within 1
answer_within 3600
stratum cut incomplete draw all
stratum rest any draw bad 10%
"""
CONF = """origin = "test.example/log";
store: {{ state_dir = "{0}/state"; run_dir = "{0}/run"; checkpoint_s = 1; }};
sampler: {{ close_after_exchanges = 30; poll_ms = 20; feed_settle_ms = 0; }};
"""


class Site:
    def __init__(self, top, programs):
        self.top = pathlib.Path(top)
        self.store, self.sampler, self.export, self.verify, self.stand_in = \
            programs
        self.conf = self.top / "assay.conf"
        self.conf.write_text(CONF.format(top))
        self.log = open(self.top / "log.txt", "w", encoding="utf-8")
        self.n = 0
        self.daemons = {}

    def start(self, name, *command):
        self.daemons[name] = subprocess.Popen(
            command, stdout=self.log, stderr=self.log)

    def start_store(self):
        self.start("store", self.store, "-c", self.conf)
        self.wait(lambda: (self.top / "run/sampler.sock").exists())

    def stop(self, name, number=signal.SIGTERM):
        daemon = self.daemons.pop(name)
        daemon.send_signal(number)
        return daemon.wait(200)

    def run(self, *command, code=0, **more):
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, timeout=200, **more)
        assert done.returncode == code, \
            (command, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def act(self, *words, code=0, **more):
        return self.run(self.sampler, "-c", self.conf, *words, code=code,
                        **more)

    def wait(self, condition, seconds=200):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.02)

    def rows(self, sql, *values):
        db = sqlite3.connect(f"file:{self.top}/state/index.db?mode=ro",
                             uri=True, timeout=10)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    def exchanges(self, n):
        self.run(self.stand_in, "exchanges", self.top / "run", str(self.n),
                 str(n))
        self.n += n
        self.wait(lambda: self.rows("SELECT count(*) FROM exchange") ==
                  [(self.n,)])

    def answers(self, epoch, left=0):
        drawn, = self.rows("SELECT count(*) FROM draw w JOIN draw_drawn d "
                           "ON d.seq = w.seq WHERE w.epoch = ?", epoch)[0]
        self.wait(lambda: self.rows(
            "SELECT count(*) FROM job WHERE epoch = ?", epoch) == [(drawn,)])
        self.run(self.stand_in, "answers", self.top / "state",
                 self.top / "run", str(epoch), str(left))
        self.wait(lambda: self.rows(
            "SELECT count(DISTINCT object) FROM verdict WHERE epoch = ?",
            epoch) == [(drawn - left,)])
        return drawn

    def state(self, epoch):
        epochs = json.loads(self.act("list", "--json"))["epochs"]
        return epochs[epoch - 1] if len(epochs) >= epoch else None

    def reveal(self):
        return self.run(self.sampler, "chain", "next",
                        self.top / "chain").strip()

    def check(self, epoch, code=0):
        """Export, both verifiers, and the same bytes twice."""
        out = [self.top / f"export-{epoch}-{i}-{time.monotonic_ns()}"
               for i in range(2)]
        for directory in out:
            self.run(self.export, "-c", self.conf, str(epoch), directory)
        if code == 0:  # an open epoch is exported as far as it is signed
            self.run("diff", "-r", *out)
        key = self.rows("SELECT log_vkey FROM genesis")[0][0]
        report = json.loads(self.run(self.verify, out[0], "--key", key,
                                     "--json", code=code))
        assert report["exit"] == code
        if code == 0:
            oracle = pathlib.Path(__file__).parent.with_name("verify_oracle.py")
            self.run(sys.executable, oracle, out[0], key)
        self.run("sha256sum", "--quiet", "-c", "manifest.sha256", cwd=out[0])
        return report


def another_key(site):
    """The key that the log names draws, or none does."""
    key, kept = site.top / "state/keys/vrf.key", site.top / "kept"
    key.rename(kept)
    site.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-out", key)
    site.act("list", code=4)
    key.write_text("no key")
    site.act("list", code=4)
    kept.replace(key)
    site.act("list")


def by_hand(site):
    """Every refusal on the way, then the way."""
    site.exchanges(60)
    site.act("close", code=3)  # no policy yet
    policy = site.top / "policy"
    policy.write_text(POLICY + "stratum more any draw 1\n")
    site.act("policy", policy, code=3)
    policy.write_text(POLICY)
    site.act("policy", policy, code=4)  # the party has not enrolled
    head = site.run(site.sampler, "chain", "new", "--length", "50",
                    site.top / "chain").strip()
    site.act("enrol", "auditor", head)
    site.act("policy", policy)
    site.act("reveal", "auditor", "00" * 32, code=4)  # nobody waits
    assert "waits for a reveal of auditor" in site.act("close", "--reason",
                                                       "by hand", code=75)
    site.act("certify", "1", code=75)
    site.check(1, code=6)
    site.act("reveal", "auditor", "00" * 32, code=1)
    site.act("reveal", "nobody", "00" * 32, code=4)
    time.sleep(1.1)
    assert site.state(1)["state"] == "SEED_STALLED"
    assert "drawn" in site.act("reveal", "auditor", "-",
                               input=site.reveal() + "\n")
    site.check(1, code=6)
    drawn = site.answers(1, left=1)
    assert drawn == 3 + 22  # all cut ones; 10 % of 57 at 95 %
    site.act("certify", "1", code=75)
    site.act("certify", "1", "--now")
    certificate = site.state(1)["certificate"]
    assert certificate["mismatch"] == 1
    assert certificate["match"] + certificate["uncheckable"] + \
        certificate["unanswered"] + 1 == drawn
    statement = site.check(1)["statement"]
    assert "of the exchanges would not reproduce" in statement
    assert "no batch feed spoke" in statement


def by_daemon(site):
    """Closes by count, waits for the reveal, certifies by itself."""
    site.start("sampler", site.sampler, "-c", site.conf, "run")
    site.exchanges(29)
    time.sleep(0.3)
    assert site.state(2) is None
    site.exchanges(5)
    site.wait(lambda: site.state(2) is not None)
    site.act("reveal", "auditor", site.reveal())
    site.answers(2)
    site.wait(lambda: site.state(2)["state"] == "certified")
    assert site.stop("sampler") == 0
    site.check(2)


def killed(site, rounds=12):
    """Sampler and store are killed at random while an epoch goes its way."""
    dice = random.Random(7)
    for epoch in range(3, 3 + rounds):
        site.exchanges(31)
        site.start("sampler", site.sampler, "-c", site.conf, "run")
        time.sleep(dice.uniform(0, 0.12))
        site.stop("sampler", signal.SIGKILL)
        if dice.random() < 0.5:
            site.stop("store", signal.SIGKILL)
            site.start_store()
        site.start("sampler", site.sampler, "-c", site.conf, "run")
        site.wait(lambda e=epoch: site.state(e) is not None)
        value, done, life = site.reveal(), False, 0.06
        while not done:
            once = subprocess.Popen(
                [site.sampler, "-c", site.conf, "reveal", "auditor", value],
                stdout=site.log, stderr=site.log)
            time.sleep(dice.uniform(0, life))
            life *= 1.1  # some time it gets through, however busy we are
            once.kill()
            once.wait()
            done = site.state(epoch)["missing"] == ""
        if dice.random() < 0.5:
            site.stop("sampler", signal.SIGKILL)
            site.start("sampler", site.sampler, "-c", site.conf, "run")
        site.wait(lambda e=epoch: site.state(e)["state"] != "closed" and
                  site.state(e)["state"] != "SEED_STALLED")
        site.answers(epoch)
        site.wait(lambda e=epoch: site.state(e)["state"] == "certified")
        site.stop("sampler", signal.SIGKILL)
    for kind in ("frame_close", "seed", "draw", "certificate"):
        twice = site.rows(f"SELECT epoch, count(*) FROM {kind} GROUP BY epoch "
                          "HAVING count(*) > 1")
        assert twice == [], (kind, twice)
    for epoch in (3, 2 + rounds):
        site.check(epoch)


def main(*programs):
    with tempfile.TemporaryDirectory(prefix="assay-epoch-") as top:
        site = Site(top, programs)
        try:
            site.start_store()
            another_key(site)
            by_hand(site)
            by_daemon(site)
            killed(site)
            assert site.stop("store") == 0
        except BaseException:
            site.log.flush()
            print((site.top / "log.txt").read_text()[-6000:])
            raise
        finally:
            for daemon in site.daemons.values():
                daemon.kill()
                daemon.wait()


main(*sys.argv[1:])
