#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assay-status, and who is let in: a running assay-store whose roles belong to
other users, asked by root, who is none of them.

usage: test_status.py STORE STATUS TAP RECOMPUTE SAMPLER CAPTURE
       (suite e2e, as root)
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

STORE, STATUS, TAP, RECOMPUTE, SAMPLER, CAPTURE = sys.argv[1:7]
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..',
                     'prover', 'stories260k')
WAIT_S = 120


def until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, 'waited too long'
        time.sleep(0.02)


class Bed(unittest.TestCase):
    users = ''

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='assay-status-')
        self.conf = self.dir + '/assay.conf'
        self.configure('')
        self.store = None

    def tearDown(self):
        self.stop()
        shutil.rmtree(self.dir)

    def configure(self, more):
        with open(self.conf, 'w', encoding='ascii') as f:
            f.write(f'origin = "status.example/1";\n'
                    f'store: {{ state_dir = "{self.dir}/state"; '
                    f'run_dir = "{self.dir}/run"; {self.users} }};\n{more}')

    def start(self):
        with open(self.dir + '/log', 'ab') as log:
            self.store = subprocess.Popen([STORE, '-c', self.conf],
                                          stderr=log)
        until(lambda: os.path.exists(self.dir + '/run/web.sock'))

    def stop(self):
        if self.store is not None:
            self.store.send_signal(signal.SIGTERM)
            self.assertEqual(self.store.wait(WAIT_S), 0)
        self.store = None

    def log(self):
        with open(self.dir + '/log', encoding='ascii') as f:
            return f.read()

    def run_it(self, program, *words):
        done = subprocess.run([program, '-c', self.conf, *words], check=False,
                              capture_output=True, text=True, timeout=WAIT_S)
        return done.returncode, done.stdout, done.stderr


class Status(Bed):
    def figures(self):
        code, out, _ = self.run_it(STATUS, '--json')
        self.assertEqual(code, 0)
        return json.loads(out)

    def loss(self):
        """A record of the tap's, acknowledged."""
        text = (b'tap t\ncause ring\nobject x\ncount 2\nbytes 77\n'
                b'from_ns 1\nto_ns 2\n')
        body = (struct.pack('>H', 4) + b'loss' + struct.pack('>I', len(text)) +
                text + b'\0')
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT_S)
            s.connect(self.dir + '/run/tap.sock')
            s.sendall(struct.pack('>IBQ', 9 + len(body), 1, 5) + body)
            answer = s.recv(53, socket.MSG_WAITALL)
        self.assertEqual(answer[4], 129, answer)

    def test_without_an_index_it_says_so(self):
        code, out, err = self.run_it(STATUS)
        self.assertEqual((code, out), (4, ''))
        self.assertIn('cannot open the index', err)

    def test_wrong_use_has_its_own_exit_codes(self):
        self.assertEqual(self.run_it(STATUS, '--nonsense')[0], 2)
        self.assertEqual(self.run_it(STATUS, 'word')[0], 2)
        self.assertEqual(self.run_it(STATUS, '-n')[0], 0)
        self.configure('nonsense = 1;\n')
        self.assertEqual(self.run_it(STATUS, '-n')[0], 3)

    def test_the_figures_are_those_of_the_record(self):
        self.start()
        # The log's first two leaves: its birth and this start.
        until(lambda: self.figures()['leaves'] >= 2)
        before = self.figures()
        self.assertEqual(before['schema'], 'assay.status/1')
        self.assertEqual((before['loss_records'], before['exchanges']), (0, 0))
        self.loss()
        self.loss()
        until(lambda: self.figures()['loss_records'] == 2)
        after = self.figures()
        self.assertEqual(after['loss_bytes'], 154)
        self.assertEqual(after['leaves'], before['leaves'] + 2)
        lines = dict(line.split()
                     for line in self.run_it(STATUS)[1].splitlines())
        self.assertEqual(lines, {k: str(v) for k, v in after.items()
                                 if k != 'schema'})

    def test_health_is_a_line_and_an_exit_code(self):
        self.configure('check: { disk_free_mb = 1; };\n')
        self.start()
        until(lambda: self.run_it(STATUS)[0] == 0)
        code, out, _ = self.run_it(STATUS, '--check')
        self.assertEqual((code, out[:15]), (0, 'OK store_up=1 d'))
        self.assertNotIn('!', out)
        self.configure('check: { disk_free_mb = 1000000000; };\n')
        code, out, _ = self.run_it(STATUS, '--check')
        self.assertEqual((code, out[:3]), (1, 'BAD'))
        self.assertRegex(out, r' disk_free_mb=\d+! ')
        # Nobody has accounted for traffic since the log was born.
        self.configure('check: { disk_free_mb = 1; traffic_s = 1; };\n')
        until(lambda: self.run_it(STATUS, '--check')[0] == 1)
        code, out, _ = self.run_it(STATUS, '--check', '--json')
        report = json.loads(out)
        self.assertEqual((code, report['healthy']), (1, False))
        self.assertRegex(report['line'], r'oldest_silence_s=\d+!')
        self.configure('check: { disk_free_mb = 1; };\n')
        self.stop()
        code, out, _ = self.run_it(STATUS, '--check')
        self.assertEqual((code, out[:15]), (1, 'BAD store_up=0!'))


class OtherUsers(Bed):
    users = ' '.join(f'user_{role} = "daemon";' for role in
                     ('tap', 'sampler', 'recompute', 'compare', 'web'))

    def setUp(self):
        super().setUp()
        self.start()
        until(lambda: self.run_it(STATUS)[0] == 0)

    def refused(self, role):
        return f'role {role} is for uid 1, this is uid 0'

    def test_a_look_at_the_health_makes_no_noise(self):
        for _ in range(5):
            code, out, err = self.run_it(STATUS, '--check')
            self.assertIn('store_up=1 ', out)
            self.assertEqual(err, '')
        self.stop()  # it has answered all that knocked
        self.assertEqual(self.log().count(self.refused('web')), 1)

    def test_the_tap_ends(self):
        code, _, err = self.run_it(TAP, CAPTURE)
        self.assertEqual(code, 5, err)
        self.assertIn(self.refused('tap'), err)
        self.assertIn(self.refused('tap'), self.log())

    def test_a_model_is_not_registered(self):
        code, _, err = self.run_it(RECOMPUTE, 'register', 'm', MODEL)
        self.assertEqual(code, 5, err)
        self.assertIn(self.refused('recompute'), err)

    def test_a_party_is_not_enrolled(self):
        code, _, err = self.run_it(SAMPLER, 'enrol', 'auditor', '0' * 64)
        self.assertEqual(code, 5, err)
        self.assertIn(self.refused('sampler'), err)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[7:], verbosity=2)
