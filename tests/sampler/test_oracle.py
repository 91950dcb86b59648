#!/usr/bin/env python3
"""test_oracle.py - assay-verify and the oracle agree on an honest bundle and
on every lie that both can see.

    test_oracle.py MAKE_BUNDLE ASSAY_VERIFY
"""
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


def main(make, verify):
    oracle = pathlib.Path(__file__).with_name("verify_oracle.py")
    lies = run(make).stdout.split()
    assert lies[0] == "NONE" and len(lies) > 20 and UNSEEN < set(lies)
    wrong = []
    with tempfile.TemporaryDirectory() as top:
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
