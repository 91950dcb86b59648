# SPDX-License-Identifier: Apache-2.0
"""Real traffic of vLLM and SGLang and the scheduler's true rows of it must
reconcile with no finding, and with exactly one of the right kind for each of
these rows that is taken out, added or altered.

usage: test_reconcile_captures.py DUMP_EXCHANGES RECONCILE_RUN CAPTURES
"""

import collections
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tap", "feed"))
import steps_to_feed  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "..", "..", "recordings"))
import recordings  # noqa: E402

Row = collections.namedtuple("Row", "seq pos id choice start n first last")


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def digest(ids):
    return hashlib.sha256(struct.pack(">%dI" % len(ids), *ids)).hexdigest()


def exchanges(dump, folder):
    """Values of the exchange record of each inference call, as the tap makes
    them of the capture."""
    out = subprocess.run([dump, os.path.join(folder, "capture.pcap")],
                         check=True, stdout=subprocess.PIPE)
    for line in out.stdout.decode("latin-1").splitlines():
        x = json.loads(line)
        if x["kind"] != "exchange" or not x["api"]:
            continue
        record = {k: x[k] for k in (
            "status", "api", "api_id", "choices", "tokens_in", "tokens_out",
            "tokens_from", "streamed", "complete", "cause")}
        record["req_first_ns"] = x["req"]["first_ns"]
        record["resp_last_ns"] = x["resp"]["last_ns"]
        yield record


def base(dump, folder):
    """SQL of the tables, and the feed's rows. Records in the order of time: a
    step when it ran, an exchange when its answer had ended."""
    events = [(int(m["time_ns"]), 0, m)
              for m in steps_to_feed.messages(folder)]
    events += [(x["resp_last_ns"], 1, x) for x in exchanges(dump, folder)]
    events.sort(key=lambda e: e[:2])
    sql, rows, seen = [], [], {}
    cut, named, idle = {}, set(), set()
    for seq, (_, kind, what) in enumerate(events, 1):
        if kind == 1:
            x = what
            named.add(x["api_id"])
            if not x["complete"]:
                cut[x["api_id"]] = x["tokens_in"]
            columns = ",".join(x)
            values = ",".join(quote(v) if isinstance(v, str) else str(v)
                              for v in x.values())
            sql.append("INSERT INTO exchange(seq,unit,%s) VALUES(%d,"
                       "x'%s',%s)" % (columns, seq, digest([seq]), values))
            continue
        sql.append("INSERT INTO batch_step(seq,unit,engine,feed_seq,step,"
                   "step_ns) VALUES(%d,x'%s','e0',%d,%d,%s)" % (
                       seq, digest([seq]), what["seq"], what["step"],
                       what["time_ns"]))
        for pos, m in enumerate(what["members"]):
            prompt = m.get("prompt")
            if m.get("params", {}).get("max_new_tokens") == 0:
                idle.add(m["id"])
            sql.append(member_sql(
                seq, pos, m["id"], m["choice"], m["start"], m["n"],
                m["cached"], prompt))
            key = (m["id"], m["choice"])
            rows.append(Row(seq, pos, m["id"], m["choice"], m["start"],
                            m["n"], prompt is not None, False))
            seen[key] = len(rows) - 1
    for i in seen.values():
        rows[i] = rows[i]._replace(last=True)
    return sql, rows, cut, named, idle


def member_sql(seq, pos, request, choice, start, n, cached, prompt):
    return ("INSERT INTO batch_step_member VALUES(%d,%d,%s,%d,%d,%d,%d,%d,"
            "x'%s')" % (seq, pos, quote(request), choice, start, n, cached,
                        len(prompt or ()),
                        digest(prompt) if prompt else "00" * 32))


def cases(rows, cut, named, idle):
    """(name, SQL, classes of which exactly one is to be found, row).

    cut: ids of exchanges that the client cut. The engine may have gone on
    after what the client saw, so nothing can be said of the rows' end, nor of
    its prompt where the wire had not told its length. named: ids on the wire.
    What no answer names is bound to its exchange by its shape; altered
    beyond that it is an orphan. idle: requests that sample nothing for anyone
    (SGLang warming its cache): the wire knows nothing of them.
    """
    count = collections.Counter((r.id, r.choice) for r in rows)
    for r in rows:
        where = " WHERE seq=%d AND pos=%d" % (r.seq, r.pos)
        name = "%s/%d@%d" % (r.id, r.choice, r.start)
        only = count[r.id, r.choice] == 1
        open_end = r.last and r.id in cut
        size = {"size_diff"} if r.id in named else {"size_diff",
                                                    "orphan_metadata"}
        lone = only and sum(k[0] == r.id for k in count) == 1
        copy = ("INSERT INTO batch_step_member SELECT seq,%d,%s,choice,%s,n,"
                "cached,prompt_n,prompt_digest FROM batch_step_member"
                + where)
        if not open_end and r.id not in idle:
            yield ("out " + name, "DELETE FROM batch_step_member" + where,
                   {"no_metadata"} if lone else size, r)
        yield ("twice " + name, copy % (900 + r.pos, "request", "start"),
               {"dup_metadata"}, r)
        yield ("stranger " + name,
               copy % (900 + r.pos, "'nobody'", "start"),
               {"orphan_metadata"}, r)
        if not open_end:
            yield ("longer " + name,
                   "UPDATE batch_step_member SET n=n+1" + where, size, r)
        if r.n > 1:
            yield ("shorter " + name,
                   "UPDATE batch_step_member SET n=n-1" + where, size, r)
        yield ("moved " + name,
               "UPDATE batch_step_member SET start=start+1" + where, size, r)
        if r.last and not open_end:
            yield ("beyond " + name,
                   copy % (900 + r.pos, "request", "start+n"), size, r)
        if r.first and not cut.get(r.id) == 0:
            yield ("prompt " + name, "UPDATE batch_step_member SET prompt_n="
                   "prompt_n+1" + where, size, r)


def exchange_cases(sql, rows):
    """The same from the other side: an answer given again under its old id, a
    request that the tap did not see."""
    strands = collections.Counter(i for i, _ in {(r.id, r.choice)
                                                 for r in rows})
    for line in sql:
        m = re.match(r"INSERT INTO exchange\((.*?)\) VALUES\((\d+),", line)
        if m is None:
            continue
        seq, names = m.group(2), m.group(1).split(",", 2)[2]
        if re.search(r"',4\d\d,'", line):
            continue  # a refused request: the engine never had it
        yield ("replayed " + seq, "INSERT INTO exchange(seq,unit,%s) SELECT "
               "seq+1000000,unit,%s FROM exchange WHERE seq=%s"
               % (names, names, seq), line, "no_metadata", 1)
        request = next((i for i in strands if quote(i) in line), None)
        if request is not None:
            yield ("unasked " + seq, "DELETE FROM exchange WHERE seq=" + seq,
                   line, "orphan_metadata", strands[request])


def main():
    dump, run, captures = sys.argv[1:4]
    failed = total = 0
    for recorded in recordings.folders(captures, "vllm", "sglang"):
        folder = os.path.join(captures, recorded)
        sql, rows, *about = base(dump, folder)
        wanted = list(cases(rows, *about))
        text = "".join("base %s\n" % s for s in sql) + "case as it is|;\n"
        other = list(exchange_cases(sql, rows))
        text += "".join("case %s|%s\n" % (c[0], c[1]) for c in wanted + other)
        out = subprocess.run([run], input=text.encode(), check=True,
                             stdout=subprocess.PIPE)
        lines = [json.loads(s) for s in out.stdout.decode().splitlines()]
        assert len(lines) == len(wanted) + len(other) + 1
        print(folder, len(rows), "rows", len(wanted), "cases",
              {k: lines[0][k] for k in ("exchanges", "matched", "by_shape")})
        if lines[0]["findings"]:
            failed += 1
            print("  as it is:", lines[0]["findings"])
        for (name, _, classes, row), line in zip(wanted, lines[1:]):
            found = [f["class"] for f in line["findings"]]
            total += 1
            if len(found) != 1 or found[0] not in classes:
                failed += 1
                print("  ", name, row, "wanted", classes, "found",
                      line["findings"])
        for case, line in zip(other, lines[1 + len(wanted):]):
            found = [f["class"] for f in line["findings"]]
            total += 1
            if set(found) != {case[3]} or len(found) < case[4]:
                failed += 1
                print("  ", case[0], case[2], "found", line["findings"])
    print("%d cases, %d failed" % (total, failed))
    sys.exit(1 if failed or not total else 0)


if __name__ == "__main__":
    main()
