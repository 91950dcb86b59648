#!/usr/bin/env python3
"""verify_oracle.py - a second verifier of exported epochs, written from
docs/sampling.md and the RFCs, sharing no code with assay-verify. Standard
library only; Ed25519 through `openssl pkeyutl`. It knows nothing of the VRF
(it takes its output as recorded) and does not derive the verdict rule.

    verify_oracle.py DIR VKEY      exit 0: holds, 1: does not (why on stdout)
"""
import base64
import collections
import hashlib
import hmac
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
from fractions import Fraction
from math import comb


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


def sha(data):
    return hashlib.sha256(data).digest()


def tree_root(hashes):
    """RFC 6962 section 2.1, by levels: an odd one goes up as it is."""
    if not hashes:
        return sha(b"")
    while len(hashes) > 1:
        pairs = [sha(b"\1" + a + b) for a, b in zip(hashes[::2], hashes[1::2])]
        hashes = pairs + hashes[len(pairs) * 2:]
    return hashes[0]


def open_note(path, vkey):
    """Signed checkpoint: its (origin, size, root)."""
    name, _, key64 = vkey.split("+", 2)
    key = base64.b64decode(key64)[1:]
    text, _, signatures = path.read_bytes().rpartition(b"\n\n")
    text += b"\n"
    for line in signatures.decode().splitlines():
        _, signer, blob = line.split(" ")
        if signer != name:
            continue
        with tempfile.TemporaryDirectory() as tmp:
            d = pathlib.Path(tmp)
            (d / "key").write_bytes(
                bytes.fromhex("302a300506032b6570032100") + key)
            (d / "text").write_bytes(text)
            (d / "sig").write_bytes(base64.b64decode(blob)[4:])
            done = subprocess.run(
                ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER",
                 "-inkey", d / "key", "-rawin", "-in", d / "text", "-sigfile",
                 d / "sig"], capture_output=True, check=False)
        need(done.returncode == 0, f"{path.name}: signature")
        origin, size, root = text.decode().splitlines()[:3]
        need(origin == name, "origin")
        return int(size), base64.b64decode(root)
    raise Refused(f"{path.name}: not signed by the key")


class Leaf:
    def __init__(self, data):
        self.data = data
        self.unit = sha(b"\0" + data)
        self.keys = collections.defaultdict(list)
        for line in data.decode("ascii").splitlines()[1:]:
            key, value = line.split(" ")
            self.keys[key].append(value)
        self.kind, self.seq = self["type"], self.u64("seq")

    def __getitem__(self, key):
        need(len(self.keys[key]) == 1, f"{key} stands once")
        return self.keys[key][0]

    def u64(self, key):
        need(re.fullmatch("0|[1-9][0-9]*", self[key]), f"{key} is a number")
        return int(self[key])

    def text(self, key):
        value = self[key]
        return b"" if value == "-" else urllib.parse.unquote_to_bytes(value)


def read_leaves(data, hashes):
    parts = re.split(rb"^(?=assay-rec/v1\n)", data, flags=re.M)
    leaves = [Leaf(p) for p in parts if p]
    need(leaves[0].seq == 0 and leaves[0].kind == "genesis", "genesis")
    for before, leaf in zip(leaves, leaves[1:]):
        need(before.seq < leaf.seq, "leaves are in order")
    for leaf in leaves:
        need(leaf.seq < len(hashes) and hashes[leaf.seq] == leaf.unit,
             f"leaf {leaf.seq} is in the tree")
    return leaves


def parse_policy(text):
    """(confidence, parties, strata) of a policy's text."""
    lines = [l.split(" ") for l in text.decode().splitlines()
             if l and not l.startswith("#")]
    confidence = Fraction(lines[1][1].rstrip("%")) / 100
    parties = [l[1] for l in lines if l[0] == "party" and l[1] != "none"]
    return confidence, parties, [l[1:] for l in lines if l[0] == "stratum"]


def stratum_of(strata, leaf):
    for i, (_, match, *_) in enumerate(strata):
        word, _, value = match.partition("=")
        if (word == "any" or
                (word == "incomplete" and leaf["complete"] == "0") or
                (word == "unknown" and leaf["api"] == "-") or
                (word in ("model", "api") and leaf[word] == value)):
            return i
    raise Refused("a stratum for every unit")


def sample_size(size, confidence, units):
    if size[0] == "all":
        return units
    if size[0] != "bad":
        return min(int(size[0]), units)
    share = Fraction(size[1].rstrip("%")) / 100
    if len(size) == 4:
        confidence = Fraction(size[3].rstrip("%")) / 100
    bad = max(1, -(-share * units // 1))
    n = 0
    while units and Fraction(comb(units - bad, n),
                             comb(units, n)) > 1 - confidence:
        n += 1
    return n


def bad_units(units, drawn, failed, risk):
    """Largest K with P(X <= failed) > risk, in exact fractions."""
    def likely(bad):
        ways = sum(comb(bad, j) * comb(units - bad, drawn - j)
                   for j in range(min(failed, bad) + 1))
        return Fraction(ways, comb(units, drawn)) > risk
    bad = failed
    while bad < units - (drawn - failed) and likely(bad + 1):
        bad += 1
    return bad


def chain_leads(value, steps, head):
    for _ in range(steps):
        value = sha(b"assay-chain/v1\0" + value)
    return value == head


class Epoch:
    def __init__(self, number, leaves, hashes, points):
        self.number, self.leaves = number, leaves
        self.hashes, self.points = hashes, points

    def all(self, kind, number=None):
        number = self.number if number is None else number
        return [l for l in self.leaves
                if l.kind == kind and l.u64("epoch") == number]

    def one(self, kind, number=None):
        found = self.all(kind, number)
        need(len(found) == 1, f"one {kind}, not {len(found)}")
        return found[0]

    def check_frame(self):
        c = self.close = self.one("frame_close")
        first, end = c.u64("first"), c.u64("end")
        before = 0 if self.number == 1 else \
            self.one("frame_close", self.number - 1).u64("end")
        need(first == before and first <= end <= c.seq, "range")
        here = [l.seq for l in self.leaves if l.seq >= first]
        need(here == list(range(first, len(self.hashes))), "no leaf missing")
        policy = [l for l in self.leaves
                  if l.kind == "policy" and l.seq < c.seq][-1].text("text")
        need(sha(policy).hex() == c["policy"], "policy")
        self.confidence, self.parties, self.strata = parse_policy(policy)
        self.units = [l for l in self.leaves
                      if l.kind == "exchange" and first <= l.seq < end]
        self.stratum = [stratum_of(self.strata, u) for u in self.units]
        entries = [
            i.to_bytes(8, "big") + s.to_bytes(4, "big") +
            (u.u64("tokens_in") + u.u64("tokens_out")).to_bytes(8, "big") +
            u.unit for i, (u, s) in enumerate(zip(self.units, self.stratum))]
        self.frame = b"".join(entries)
        self.root = tree_root([sha(b"\0" + e) for e in entries])
        need(self.root.hex() == c["frame_root"], "frame root")
        self.check_counts(first, end, policy)

    def check_counts(self, first, end, policy):
        c, inside = self.close, [l for l in self.leaves
                                 if first <= l.seq < end]

        def total(kind, key):
            return sum(l.u64(key) for l in inside if l.kind == kind)
        counts = {
            "n": len(self.units), "seen": len(self.units),
            "incomplete": sum(u["complete"] == "0" for u in self.units),
            "unparsed": total("unparsed", "count"),
            "unparsed_bytes": total("unparsed", "bytes"),
            "loss": total("loss", "count"), "loss_bytes": total("loss", "bytes"),
            "findings": sum(l.seq < c.seq for l in self.all("finding"))}
        for key, n in counts.items():
            need(c.u64(key) == n, f"close: {key}")
        need(c.u64("no_feed") == 0 or
             not any(l.kind == "batch_step" and l.seq < end
                     for l in self.leaves), "close: no_feed")
        self.wanted = [sample_size(s[3:], self.confidence,
                                   self.stratum.count(i))
                       for i, s in enumerate(self.strata)]
        told = [line.split(",") for line in c.keys["stratum"]]
        need([int(t[3]) for t in told] == self.wanted, "close: sample size")
        self.policy = policy

    def check_seed(self, origin):
        s, c = self.one("seed"), self.close
        size, reveals = s.u64("checkpoint_size"), []
        need(self.points.get(size, b"").hex() == s["checkpoint_root"],
             "checkpoint of the seed")
        for party in self.parties:
            mine = [l for l in self.all("reveal") if l["party"] == party]
            chain = [l for l in self.leaves if l.kind == "chain" and
                     l["party"] == party and l.seq < c.seq][-1]
            need(len(mine) == 1, "one reveal")
            need(c.seq < size <= mine[0].seq < s.seq, "order of the reveal")
            value = bytes.fromhex(mine[0]["value"])
            need(chain_leads(value, self.number - chain.u64("epoch") + 1,
                             bytes.fromhex(chain["head"])), "reveal chain")
            reveals.append(f"reveal {party} {value.hex()}\n")
        text = (f"assay-seed/v1\norigin {origin}\nepoch {self.number}\n"
                f"frame {len(self.units)} "
                f"{base64.b64encode(self.root).decode()}\n"
                f"policy {base64.b64encode(sha(self.policy)).decode()}\n"
                + "".join(reveals) + f"vrf 01 {s['vrf_beta']}\n").encode()
        need(s.text("text") == text, "seed text")
        self.seed = sha(text)
        need(self.seed.hex() == s["seed"], "seed")

    def check_draw(self):
        parts = self.all("draw")
        need([p.u64("part") for p in parts] ==
             list(range(1, parts[0].u64("parts") + 1)), "parts of the draw")
        need(parts[0].seq > self.one("seed").seq, "draw after seed")
        ticket = [hmac.digest(self.seed, b"assay-ticket/v1\0" + u.unit,
                              "sha256") for u in self.units]
        drawn = []
        for h, n in enumerate(self.wanted):
            mine = [i for i, s in enumerate(self.stratum) if s == h]
            drawn += sorted(mine, key=lambda i: (ticket[i],
                                                 self.units[i].unit))[:n]
        self.drawn = sorted(drawn)
        lines = [f"{i},{self.stratum[i]},{self.units[i].unit.hex()}"
                 for i in self.drawn]
        need([l for p in parts for l in p.keys["drawn"]] == lines, "draw")

    def check_answers(self):
        cert, rank = self.one("certificate"), \
            ["MISMATCH", "UNSTABLE", "UNCHECKABLE", "MATCH", "UNANSWERED"]
        start, units = self.all("draw")[0].seq, \
            {self.units[i].unit.hex(): i for i in self.drawn}
        got = {i: "UNANSWERED" for i in self.drawn}
        for kind in ("job", "result", "verdict", "certificate"):
            need(all(l.seq > start for l in self.all(kind)), f"{kind} late")
        for v in self.all("verdict"):
            need(v["object"] in units, "verdict on a drawn unit")
            jobs = [j for j in self.all("job") if j.seq < v.seq and
                    j["object"] == v["object"]]
            need(jobs, "verdict has a job")
            need(v["verdict"] == "UNCHECKABLE" or any(
                jobs[-1].seq < r.seq < v.seq and
                r["nonce"] == jobs[-1]["nonce"] and
                r["digest"] == v["result_digest"]
                for r in self.all("result")), "verdict has a result")
            if v.seq < cert.u64("verdicts_end"):
                i = units[v["object"]]
                got[i] = min(got[i], v["verdict"], key=rank.index)
        need(cert.u64("verdicts_end") <= cert.seq, "verdicts before")
        for i in self.drawn:
            if self.units[i]["complete"] == "0" and \
                    got[i] in ("MATCH", "UNANSWERED"):
                got[i] = "UNCHECKABLE"
        for name in rank:
            need(cert.u64(name.lower()) == list(got.values()).count(name),
                 f"certificate: {name}")
        self.check_bound(cert, got)

    def check_bound(self, cert, got):
        rows = []
        for h in range(len(self.strata)):
            mine = [i for i in self.drawn if self.stratum[i] == h]
            rows.append((self.stratum.count(h), len(mine),
                         sum(got[i] != "MATCH" for i in mine)))
        open_strata = sum(0 < n < units for units, n, _ in rows) or 1
        risk = (1 - self.confidence) / open_strata
        bad = sum(bad_units(*row, risk) for row in rows)
        need(cert.u64("bound_units") == bad, "bound in units")
        ppm = -(-bad * 10**6 // len(self.units)) if self.units else 10**6
        need(cert.u64("bound_ppm") == ppm, "bound in ppm")
        need(cert.u64("drawn") == len(self.drawn), "certificate: drawn")


def verify(directory, vkey):
    top = pathlib.Path(directory)
    for line in (top / "manifest.sha256").read_text().splitlines():
        digest, name = line.split("  ")
        need(sha((top / name).read_bytes()).hex() == digest, f"file {name}")
    raw = (top / "log/hashes").read_bytes()
    hashes = [raw[i:i + 32] for i in range(0, len(raw), 32)]
    points = {}
    for path in [top / "checkpoint", *(top / "checkpoints").iterdir()]:
        size, root = open_note(path, vkey)
        need(path.name in ("checkpoint", str(size)), "checkpoint's name")
        need(size <= len(hashes) and tree_root(hashes[:size]) == root,
             f"root at {size}")
        points[size] = root
    need(max(points) == len(hashes), "the checkpoint signs all leaves")
    need(open_note(top / "checkpoint", vkey)[0] == len(hashes), "checkpoint")
    folder, = top.glob("epoch-*")
    leaves = read_leaves((top / "log/leaves").read_bytes(), hashes)
    need(leaves[0].text("log_vkey").decode() == vkey, "genesis: key")
    need(leaves[0].text("origin").decode() == vkey.split("+")[0], "origin")
    e = Epoch(int(folder.name[6:]), leaves, hashes, points)
    e.check_frame()
    need((folder / "frame.bin").read_bytes() == e.frame, "frame.bin")
    e.check_seed(vkey.split("+")[0])
    e.check_draw()
    e.check_answers()


if __name__ == "__main__":
    try:
        verify(sys.argv[1], sys.argv[2])
    except (Refused, OSError, ValueError, IndexError) as error:
        print(error)
        sys.exit(1)
