#!/usr/bin/env python3
"""assay-recompute replay: a packet and the weights are enough, the same on
every run and any number of threads, and each way to fail has its exit code.

usage: test_replay.py ASSAY_RECOMPUTE MODEL_DIR GGUF   (suite unit)
SPDX-License-Identifier: Apache-2.0
"""
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODEL, GGUF = sys.argv[1:4]
REQUEST = {'prompt': 'Once upon a time', 'max_tokens': 30, 'temperature': 0.9,
           'seed': 4, 'n': 2, 'logprobs': 2}


def packet(request, **more):
    job = {'schema': 'assay.job/1', 'epoch': 1, 'unit': 'a5' * 32,
           'nonce': '5a' * 16, 'mode': 'blind', 'runs': 2,
           'api': 'openai.completions',
           'request': base64.b64encode(json.dumps(request).encode()).decode(),
           'request_ns': '1764417600123456789', 'model': 'stories',
           'manifest': None, 'steps': [], 'messages': [], 'claimed': None}
    return json.dumps(dict(job, **more))


def digests(directory, names, numerics, recipe):
    """Of a manifest and its weights, as recompute/manifest.h defines them."""
    lines, weights = '', ''
    for name in sorted(names):
        with open(os.path.join(directory, name), 'rb') as f:
            line = '%s  %s\n' % (hashlib.sha256(f.read()).hexdigest(), name)
        lines += line
        weights += line if name.endswith(('.gguf', '.safetensors')) else ''
    head = 'assay-manifest/1\nnumerics %s\nrecipe %s\n' % (numerics, recipe)
    return [hashlib.sha256(text.encode()).hexdigest()
            for text in (head + lines, weights)]


def leaf(directory, names, numerics='fixed', recipe='-'):
    """As much of the record `manifest` as a worker looks at."""
    manifest, weights = digests(directory, names, numerics, recipe)
    return ('model m\nmanifest %s\nweights %s\nnumerics %s\n'
            'recipe %s\n' % (manifest, weights, numerics, recipe))


OURS = leaf(MODEL, [n for n in os.listdir(MODEL)
                    if n.endswith(('.json', '.safetensors'))])


class Replay(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def path(self, name, text):
        path = os.path.join(self.scratch.name, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def run_it(self, *arguments, code=0):
        run = subprocess.run([PROGRAM, *arguments], text=True,
                             capture_output=True, timeout=60)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def replay(self, text, *options, code=0, before=()):
        return self.run_it(*before, 'replay', self.path('x.job', text),
                           *options, code=code)

    def test_two_machines_give_the_same_result(self):
        results = []
        for threads in (1, 2):
            conf = self.path('assay.conf', 'origin = "o.example/t";\n'
                             'recompute: { threads = %d; };\n' % threads)
            results.append(self.replay(packet(REQUEST), '--against', MODEL,
                                       before=('-c', conf)).stdout)
        self.assertEqual(*results)
        result = json.loads(results[0])
        self.assertEqual(result['status'], 'ok')
        self.assertEqual([len(c['tokens']) for c in result['choices']],
                         [30, 30])

    def test_repeats_are_compared(self):
        self.replay(packet(REQUEST), '--against', MODEL, '--repeat', '3')

    def test_trace_has_a_line_for_each_position(self):
        run = self.replay(packet(REQUEST), '--against', MODEL, '--trace')
        lines = [x for x in run.stderr.split('\n') if ' logprob=' in x]
        self.assertEqual(len(lines), 60)

    def test_what_cannot_be_run_is_6_with_its_reason(self):
        unseeded = {k: v for k, v in REQUEST.items() if k != 'seed'}
        run = self.replay(packet(unseeded), '--against', MODEL, code=6)
        self.assertEqual(json.loads(run.stdout)['reason'], 'unseeded')

    def test_the_manifest_must_be_one_of_ours(self):
        conf = self.path('assay.conf', 'origin = "o.example/t";\n'
                         'recompute: { models = [ "%s" ]; };\n' % MODEL)
        run = self.replay(packet(REQUEST), code=6, before=('-c', conf))
        self.assertEqual(json.loads(run.stdout)['reason'], 'no_manifest')

    def deployments(self, *others):
        """Settings that name these, and ours last; and with which recipes."""
        recipes = self.scratch.name + '/recipes'
        os.mkdir(recipes)
        return self.path('assay.conf', 'origin = "o.example/t";\n'
                         'recompute: { recipes = "%s"; models = [ %s ]; };\n'
                         % (recipes, ', '.join('"%s"' % d for d in
                                               (*others, MODEL))))

    def llama(self, name, **declared):
        directory = os.path.join(self.scratch.name, name)
        os.mkdir(directory)
        os.symlink(os.path.abspath(GGUF), directory + '/model.gguf')
        with open(directory + '/engine.json', 'w') as f:
            json.dump(dict({'engine': 'llama.cpp', 'build': 'b7'}, **declared),
                      f)
        return directory

    def reason(self, conf, manifest):
        run = self.replay(packet(REQUEST, manifest=manifest), code=6,
                          before=('-c', conf))
        return json.loads(run.stdout)['reason']

    def test_a_deployment_without_a_recipe_keeps_no_other_from_it(self):
        llama = self.llama('llama')
        conf = self.deployments(llama, self.scratch.name + '/none')
        run = self.replay(packet(REQUEST, manifest=OURS), before=('-c', conf))
        self.assertEqual(json.loads(run.stdout)['status'], 'ok')
        for text in ('refused dir="%s": no recipe covers llama.cpp build "b7"'
                     % llama, 'uncheckable dir="%s" reason=no_recipe' % llama,
                     'refused dir="%s/none"' % self.scratch.name):
            self.assertIn(text, run.stderr)

    def test_the_jobs_of_one_without_a_recipe_say_so(self):
        """Whatever it was registered with."""
        llama = self.llama('llama')
        conf = self.deployments(llama)
        for recipe in ('llama.cpp-b7', '-'):
            was = leaf(llama, ['engine.json', 'model.gguf'], 'ggml', recipe)
            self.assertEqual(self.reason(conf, was), 'no_recipe')

    def test_weights_that_nobody_opened_are_no_weights(self):
        was = leaf(self.llama('llama'), ['engine.json', 'model.gguf'], 'ggml')
        self.assertEqual(self.reason(self.deployments(), was), 'no_weights')

    def test_another_engines_directory_is_refused(self):
        conf = self.deployments(self.llama('other', engine='vllm'))
        run = self.replay(packet(REQUEST, manifest=OURS), before=('-c', conf))
        self.assertIn('other": no engine runs it', run.stderr)

    def test_files_that_cannot_be_used_are_4(self):
        self.run_it('replay', self.scratch.name + '/none', '--against', MODEL,
                    code=4)
        self.replay('{"schema":"assay.job/1"}', '--against', MODEL, code=4)
        self.replay(packet(REQUEST, extra=1), '--against', MODEL, code=4)
        self.replay(packet(REQUEST), '--against', self.scratch.name, code=4)

    def test_wrong_use_is_2(self):
        self.run_it('replay', code=2)
        self.replay(packet(REQUEST), '--repeat', '0', code=2)
        self.replay(packet(REQUEST), '--nonsense', code=2)
        conf = self.path('assay.conf', 'origin = "o.example/t";\n')
        self.run_it('-c', conf, 'nonsense', code=2)

    def test_wrong_settings_are_3(self):
        conf = self.path('assay.conf', 'nonsense = 1;\n')
        self.replay(packet(REQUEST), '--against', MODEL, code=3,
                    before=('-c', conf))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
