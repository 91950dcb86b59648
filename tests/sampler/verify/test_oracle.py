#!/usr/bin/env python3
"""test_oracle.py - assay-verify and the oracle agree on an honest bundle and
on every lie that both can see.

    test_oracle.py MAKE_BUNDLE ASSAY_VERIFY
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# What only assay-verify looks at: VRF proofs, the verdict rule, the grammar,
# and one line of a policy that says the wrong hash of itself.
UNSEEN = {"VRF_PROOF", "VRF_OUTPUT", "VRF_OTHER_SEED", "VERDICT_TO_MATCH",
          "VERDICT_CLASS", "RECORD_MALFORMED", "POLICY_HASH"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def command_line(make, verify, top):
    """Exit codes, and the table as JSON."""
    directory = f"{top}/command-line"
    vkey = run(make, "NONE", directory).stdout.strip()
    for code, *words in ((2,), (2, directory, "more"), (2, directory, "--x"),
                         (4, "/nonexistent"), (6, directory),
                         (0, directory, "--key", vkey),
                         (0, "-c", "/nonexistent", directory, "--key", vkey),
                         (4, directory, "--since", "/nonexistent"),
                         (0, directory, "--key", vkey, "--since",
                          f"{directory}/checkpoints/48")):
        done = run(verify, *words)
        assert done.returncode == code, (words, done)
    pathlib.Path(directory, "extra").touch()
    done = run(verify, directory, "--key", vkey, "--json")
    assert done.returncode == 1
    table = json.loads(done.stdout)
    assert table["exit"] == 1 and table["schema"] == "assay.verify/1"
    assert table["checks"][0] == {"check": "files", "state": "FAIL",
                                  "detail": "unknown file: extra"}
    assert all(c["state"] == "NOT CHECKED" for c in table["checks"][1:])


def main(make, verify):
    oracle = pathlib.Path(__file__).parent.with_name("verify_oracle.py")
    lies = run(make).stdout.split()
    assert lies[0] == "NONE" and len(lies) > 20 and UNSEEN < set(lies)
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        command_line(make, verify, top)
        for lie in lies:
            directory = f"{top}/{lie}"
            made = run(make, lie, directory)
            assert made.returncode == 0, lie
            vkey = made.stdout.strip()
            ours = run(verify, directory, "--key", vkey).returncode
            theirs = run(sys.executable, oracle, directory, vkey)
            expected = (int(lie != "NONE"),
                        int(lie != "NONE" and lie not in UNSEEN))
            print(f"{lie:26} assay-verify {ours} oracle {theirs.returncode} "
                  f"{theirs.stdout.strip()}{theirs.stderr.strip()[-200:]}")
            if (ours, theirs.returncode) != expected:
                wrong.append(lie)
    assert not wrong, wrong


main(*sys.argv[1:])
