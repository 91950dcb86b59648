#!/usr/bin/env python3
"""test_readme.py - the commands of README.verify.txt do what it says: run as
they stand on an honest bundle, and on one that was changed.

    test_readme.py MAKE_BUNDLE
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def steps(readme):
    """Step number -> its commands (indented by five)."""
    found = {}
    for part in re.split(r"^(?=\d\. )", readme, flags=re.M)[1:]:
        lines = [l[5:] for l in part.splitlines() if l.startswith("     ")]
        found[int(part[0])] = "\n".join(lines)
    return found


def shell(command, where, vkey, good=True):
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{command}"], cwd=where,
        env={"PATH": "/usr/bin:/bin", "VKEY": vkey}, capture_output=True,
        text=True, check=False)
    assert (done.returncode == 0) == good, (command, done)
    return done.stdout


def leaf(text, seq):
    for record in re.split(r"^(?=assay-rec/v1\n)", text, flags=re.M):
        if f"\nseq {seq}\n" in record:
            return record
    raise AssertionError(seq)


def main(make):
    with tempfile.TemporaryDirectory() as top:
        where = pathlib.Path(top) / "b"
        vkey = subprocess.run([make, "NONE", where], capture_output=True,
                              text=True, check=True).stdout.strip()
        step = steps((where / "README.verify.txt").read_text())
        assert sorted(step) == [1, 2, 3, 4, 5]
        # Files of its own: two runs of this test must not meet.
        step = {n: s.replace("/tmp/", top + "/") for n, s in step.items()}
        shell(step[1], where, vkey)
        assert "Verified" in shell(step[2], where, vkey)

        leaves = (where / "log/leaves").read_text()
        seed = int(re.search(r"^  seed +(\d+)$", (
            where / "README.verify.txt").read_text(), re.M)[1])
        (pathlib.Path(top) / "leaf").write_text(leaf(leaves, seed))
        lines = shell(f"N={seed}\n{step[3]}", where, vkey).split()
        assert lines[0] == lines[2], lines

        hashes = shell(step[4], where, vkey).split()
        record = leaf(leaves, seed)
        assert f"\nseed {hashes[2]}\n" in record
        assert f"\nsha256 {hashes[0]}\n" in leaves

        for line in (where / "epoch-2/draw.txt").read_text().splitlines()[4:]:
            _, _, ticket, unit = line.split()
            out = shell(step[5].replace("UNIT", unit), where, vkey)
            assert out.split()[-1] == ticket

        checkpoint = where / "checkpoint"
        checkpoint.write_bytes(checkpoint.read_bytes().replace(
            b"\n172\n", b"\n173\n"))
        shell(step[1], where, vkey, good=False)
        shell(step[2], where, vkey, good=False)


main(*sys.argv[1:])
