# SPDX-License-Identifier: Apache-2.0
"""Real captures through the whole tap: what is complete is recorded byte for
byte, what is not is marked with its cause, no byte is left out.

Comes in: ASSAY_DUMP (the program dump_exchanges) and ASSAY_PUBLIC (a directory
of public captures) or else ASSAY_RECORDINGS (those of engines). The expected
facts are tshark's (INDEX.json) and the engines' own copies of what was sent;
where tshark is wrong, the tables below say why.
"""

import collections
import glob
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "recordings"))
import recordings  # noqa: E402

DUMP = os.environ["ASSAY_DUMP"]
PUBLIC = os.environ.get("ASSAY_PUBLIC")
ENGINES = os.environ.get("ASSAY_RECORDINGS")

# File: requests, answers, objects of INDEX.json not to be found; and why the
# count of tshark is not the truth.
DIFFERS = {
    # The same connection on three VLANs is three connections.
    "zeek/vlan-collisions.pcap": (3, 3, 0),
    # tshark does not see the request, which comes a few bytes at a time.
    "zeek/tcp-http-with-padding.pcap": (1, 1, 0),
    # An HTTP/0.9 answer has no head: tshark takes each segment for an object.
    "zeek/mixed-vlan-mpls.pcap": (2, 1, 3),
    # Urgent data is in-band, and in doubt; tshark takes it out and loses the
    # request line with it.
    "suricata-verify/tcp-urgp-01-oob.pcap": (1, 1, 1),
    # An answer that the end of the capture cut off counts as seen.
    "arkime/twovlan.pcap": (1, 1, 0),
    "pcapplusplus/raw_ip.pcap": (19, 7, 0),
}

# HTTP inside tunnels that the tap counts but does not open.
TUNNELS = {"zeek/vxlan-encapsulated-http.pcap", "arkime/gre-erspan-vxlan.pcap"}
# Link types that are refused by name.
REFUSED = {"zeek/nflog-http.pcap": "NFLOG"}

# What the exchanges of files with gaps come to: their causes, "" is complete.
UNSAFE = {
    "zeek/content-range-gap.pcap": {"gap": 1},
    "zeek/entity_gap.pcap": {"gap": 1},
    # One request of eight, and one exchange as a whole, were not captured.
    "zeek/zero-length-bodies-with-drops.pcap": {"": 7, "no_request": 1},
    "zeek/miss_end_data.pcap": {"no_answer": 1},
    "suricata-verify/http-gap-simple.pcap": {"": 2, "gap": 1},
    "suricata-verify/http-gap-whole-body.pcap": {"": 2, "gap": 1},
    # The gap takes the end of answer 1 and the head of answer 2.
    "suricata-verify/http-gap-beyond-body.pcap": {"gap": 1, "no_answer": 1,
                                                  "": 1},
    "suricata-verify/http-pipeline-files-with-gap.pcap": {"": 2, "gap": 1},
    # Seven servers answer with text that is no HTTP.
    "arkime/tcp-reassembly-synthetic.pcap": {"": 2, "no_answer": 7,
                                             "client_cut": 1,
                                             "capture_end": 1},
    "arkime/wireshark-retrans.pcap": {"": 4},
    "arkime/http-tcp-seq-issue.pcap": {"capture_end": 1},
    "pcapplusplus/unidirectional_tcp_stream_with_missing_packet.pcap":
        {"gap": 1, "no_answer": 1},
    # One side only: nothing can be complete.
    "pcapplusplus/4KHttpRequests.pcap": None,
    "pcapplusplus/650HttpResponses.pcap": None,
}


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Play:
    """One file through dump_exchanges."""

    def __init__(self, path, backend="pcap"):
        run = subprocess.run([DUMP, "-b", backend, path], check=False,
                             capture_output=True)
        self.code, self.why = run.returncode, run.stderr.decode()
        rows = [json.loads(row) for row in run.stdout.splitlines()]
        self.exchanges = [r for r in rows if r["kind"] == "exchange"]
        self.strays = [r for r in rows if r["kind"] == "stray"]
        self.totals = rows[-1] if rows else None
        self.requests = sum(x["has_req"] for x in self.exchanges)
        self.answers = sum(x["has_resp"] + x["interim"]
                           for x in self.exchanges)
        self.causes = collections.Counter(x["cause"] for x in self.exchanges)

    def digests(self):
        """Of all that is kept whole: bodies, and text that is no message."""
        have = collections.Counter()
        for x in self.exchanges:
            have[x["req"]["body"][1]] += 1
            have[x["resp"]["body"][1]] += 1
        for s in self.strays:
            if s["bytes"] == len(s["sample"]):
                have[sha(s["sample"].encode("latin-1"))] += 1
        return have


class Public(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(PUBLIC, "INDEX.json"), encoding="utf-8") as f:
            self.index = json.load(f)

    def http1(self, oracle):
        for entry in self.index:
            # Behind TLS there is no clear text; CONNECT's is before it.
            hidden = entry["tls"] and entry["key"]
            if entry["oracle"] == oracle and not hidden and (
                    entry["h1q"] or entry["h1r"] or any(entry["q2"])):
                yield entry, os.path.join(PUBLIC, entry["dst"])

    def accounted(self, play):
        t = play.totals
        self.assertEqual(t["payload"], t["attributed"] + t["stray"] +
                         t["refused"] + t["retransmitted"])
        self.assertEqual(t["delivered"], t["attributed"] + t["stray"])
        self.assertEqual((t["buffers_used"], t["overflow"]), (0, 0))
        for x in play.exchanges:
            self.assertEqual(x["complete"] == 1, x["cause"] == "")

    def test_safe_files_give_what_they_hold(self):
        seen = 0
        for entry, path in self.http1("safe"):
            name = entry["dst"]
            with self.subTest(name):
                play = Play(path)
                seen += 1
                if name in REFUSED:
                    self.assertEqual(play.code, 4)
                    self.assertIn(REFUSED[name], play.why)
                    continue
                self.assertEqual(play.code, 0, play.why)
                self.accounted(play)
                if name in TUNNELS:
                    self.assertGreater(play.totals["tunnel"], 0)
                    continue
                requests, answers, missing = DIFFERS.get(
                    name, (entry["h1q"], entry["h1r"], 0))
                self.assertEqual((play.requests, play.answers),
                                 (requests, answers))
                need = collections.Counter(o[2] for o in entry["objs"])
                self.assertEqual(sum((need - play.digests()).values()),
                                 missing)
        self.assertGreater(seen, 35)

    def test_unsafe_files_give_what_is_whole_and_mark_the_rest(self):
        for entry, path in self.http1("unsafe"):
            with self.subTest(entry["dst"]):
                play = Play(path)
                self.assertEqual(play.code, 0, play.why)
                self.accounted(play)
                expect = UNSAFE[entry["dst"]]
                if expect is None:
                    self.assertNotIn("", play.causes)
                    self.assertGreaterEqual(
                        play.requests + play.answers,
                        max(entry["h1q"] + entry["h1r"], sum(entry["q2"])))
                else:
                    self.assertEqual(dict(play.causes), expect)

    def test_one_side_alone_keeps_every_whole_body(self):
        entry = next(e for e in self.index
                     if e["dst"].endswith("650HttpResponses.pcap"))
        play = Play(os.path.join(PUBLIC, entry["dst"]))
        need = collections.Counter(o[2] for o in entry["objs"] if o[1] > 0)
        # One of tshark's is the middle of an answer whose head is missing.
        self.assertLessEqual(sum((need - play.digests()).values()), 1)

    def test_other_files_are_counted_without_a_crash(self):
        for entry in self.index:
            with self.subTest(entry["dst"]):
                play = Play(os.path.join(PUBLIC, entry["dst"]))
                self.assertIn(play.code, (0, 4))
                if play.code == 0:
                    self.accounted(play)
                else:
                    self.assertNotEqual(play.why, "")

    def test_tls_and_http2_are_named(self):
        play = Play(os.path.join(PUBLIC, "snet", "tls1.3_ccm.pcap"))
        self.assertEqual({s["cause"] for s in play.strays}, {"tls"})
        self.assertEqual(play.exchanges, [])
        play = Play(os.path.join(PUBLIC, "suricata-verify",
                                 "http2-deflate.pcap"))
        self.assertEqual({s["cause"] for s in play.strays}, {"upgrade"})


class Loss:
    """Captures with keep-alive connections, frames taken out: an answer is
    never shown with another request than its own, and only what the missing
    frames touch is incomplete."""

    @staticmethod
    def frames(path):
        """The header and the records of a classic pcap file."""
        with open(path, "rb") as f:
            data = f.read()
        order = "<" if data[0] in (0xd4, 0x4d) else ">"
        records, at = [], 24
        while at + 16 <= len(data):
            n = struct.unpack(order + "I", data[at + 8:at + 12])[0]
            records.append(data[at:at + 16 + n])
            at += 16 + n
        return data[:24], records

    @staticmethod
    def whole(play):
        return collections.Counter(
            (x["client"], x["target"], x["req"]["raw"][1], x["resp"]["raw"][1])
            for x in play.exchanges if x["complete"])

    def without(self, header, records, first, n):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
            f.write(header + b"".join(records[:first] + records[first + n:]))
            f.flush()
            play = Play(f.name)
        self.assertEqual(play.code, 0, play.why)
        return play

    def test_lost_frames_never_shift_an_answer(self):
        for name in self.FILES:
            path = os.path.join(self.TOP, name)
            header, records = self.frames(path)
            truth = self.whole(Play(path))
            for first in range(len(records)):
                n = first % 5 + 1
                with self.subTest(name, first=first, n=n):
                    play = self.without(header, records, first, n)
                    whole = self.whole(play)
                    self.assertEqual(whole - truth, collections.Counter())
                    # n frames in a row touch at most n exchanges.
                    lost = sum((truth - whole).values())
                    self.assertLessEqual(lost, n)


class PublicLoss(Loss, unittest.TestCase):
    TOP = PUBLIC
    FILES = ("zeek/zero-length-bodies-with-drops.pcap",
             "pcapplusplus/tcp-reassembly.pcap",
             "zeek/http-desync-request-response-5.pcap")


class EngineLoss(Loss, unittest.TestCase):
    TOP = ENGINES
    FILES = ("vllm/smol-bf16-clients/capture.pcap",)


class BackEnds:
    """The same exchanges and bytes by libpcap and by DPDK."""

    def test_both_back_ends_give_the_same(self):
        for name in self.FILES:
            with self.subTest(name):
                path = os.path.join(self.TOP, name)
                plays = [Play(path, b) for b in ("pcap", "dpdk")]
                for play in plays:
                    self.assertEqual(play.code, 0, play.why)
                self.assertNotEqual(plays[0].exchanges, [])
                self.assertEqual(plays[0].exchanges, plays[1].exchanges)
                self.assertEqual(plays[0].strays, plays[1].strays)
                self.assertEqual(plays[0].totals, plays[1].totals)


@unittest.skipUnless(os.environ.get("ASSAY_DPDK") == "1",
                     "this build leaves DPDK out")
class PublicBackEnds(BackEnds, unittest.TestCase):
    TOP = PUBLIC
    FILES = ("zeek/100-continue.pcap", "zeek/methods.pcap",
             "zeek/zero-length-bodies-with-drops.pcap",
             "arkime/http-content-gzip.pcap", "arkime/v6-http.pcap")


@unittest.skipUnless(os.environ.get("ASSAY_DPDK") == "1",
                     "this build leaves DPDK out")
class EngineBackEnds(BackEnds, unittest.TestCase):
    TOP = ENGINES
    FILES = ("llama.cpp/conc-bf16-np4/capture.pcap",
             "vllm/smol-bf16-solo/capture.pcap")


class Engines(unittest.TestCase):
    """Every request and answer that the engines' folders keep."""

    @staticmethod
    def folders():
        return [os.path.join(ENGINES, name) for name in recordings.folders(
            ENGINES, "llama.cpp", "llama.cpp-b11434", "vllm", "sglang")]

    def truth(self, folder):
        for path in sorted(glob.glob(os.path.join(folder, "*.req"))):
            name = os.path.basename(path)[:-4]
            with open(path, "rb") as f:
                request = f.read()
            with open(path[:-4] + ".resp", "rb") as f:
                answer = f.read()
            m = re.fullmatch(rb"([A-Z]+) (\S+)(?:[ \n](.*))?", request, re.S)
            body = m.group(3) or b""
            if "llama.cpp" in folder and body.endswith(b"\n"):
                body = body[:-1]  # the file's, not the request's
            yield name, m.group(1).decode(), m.group(2).decode(), body, answer

    def check(self, folder):
        play = Play(os.path.join(folder, "capture.pcap"))
        self.assertEqual(play.code, 0, play.why)
        self.assertEqual(play.totals["stray"] + play.totals["gap"], 0)
        left, names = list(play.exchanges), 0
        for name, method, target, body, answer in self.truth(folder):
            match = [x for x in left
                     if (x["method"], x["target"]) == (method, target) and
                     x["req"]["body"][1] == sha(body) and
                     x["resp"]["body"][1] == sha(answer)]
            self.assertTrue(match, "%s %s" % (folder, name))
            left.remove(match[0])
            names += 1
            if match[0]["complete"] == 0:
                self.assertEqual(match[0]["cause"], "client_cut")
        # What has no file is the polling for the server's start.
        for x in left:
            self.assertEqual((x["method"], x["target"], x["complete"]),
                             ("GET", "/health", 1))
        return names, play.causes["client_cut"]

    def test_every_body_is_recorded(self):
        names = cut = 0
        for folder in self.folders():
            with self.subTest(folder):
                n, c = self.check(folder)
                names, cut = names + n, cut + c
        self.assertGreater(names, 250)
        self.assertEqual(cut, 3)  # three clients that left in mid-stream

    def test_every_api_is_understood(self):
        apis = set()
        for folder in self.folders():
            for x in Play(os.path.join(folder, "capture.pcap")).exchanges:
                apis.add(x["api"])
                if x["api"] and x["status"] == 200 and x["complete"]:
                    self.assertTrue(x["understood"], (folder, x["target"]))
                    self.assertGreater(x["tokens_out"], 0, (folder, x))
        self.assertGreaterEqual(apis, {
            "openai.chat", "openai.completions", "openai.responses",
            "anthropic.messages", "llama.completion", "sglang.generate",
            "vllm.generate"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + (
        ["Public", "PublicLoss", "PublicBackEnds"] if PUBLIC else
        ["Engines", "EngineLoss", "EngineBackEnds"]))
