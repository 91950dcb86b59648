#!/usr/bin/env python3
"""A live server against the worker: every honest answer is a MATCH, in every
form of request and answer, blind and forced; every cheat has its class.

usage: test_judge.py JUDGE ASSAY_PROVER MODEL_DIR   (suite e2e)
SPDX-License-Identifier: Apache-2.0
"""
import http.client
import json
import random
import subprocess
import sys
import threading
import unittest

JUDGE, PROVER, MODEL = sys.argv[1:4]
CHAT, COMPLETIONS = '/v1/chat/completions', '/v1/completions'
WORDS = 'Once upon a time there was a little girl who loved the big red ball'
APIS = {CHAT: 'openai.chat', COMPLETIONS: 'openai.completions'}


class Prover:
    def __init__(self, *options):
        self.process = subprocess.Popen(
            [PROVER, '--model', MODEL, '--name', 'stories', '--port', '0',
             '--threads', '1', *options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[2])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()

    def ask(self, target, body):
        """The exchange, as the judge reads it."""
        request = json.dumps(body)
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
        c.request('POST', target, request)
        answer = c.getresponse()
        response = answer.read().decode()
        c.close()
        return {'api': APIS[target], 'streamed': bool(body.get('stream')),
                'status': answer.status, 'request': request,
                'response': response}


class Judge:
    def __init__(self):
        self.process = subprocess.Popen([JUDGE, MODEL], text=True,
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def verdict(self, exchange, forced=False):
        self.process.stdin.write(json.dumps(dict(exchange, forced=forced)) +
                                 '\n')
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        return dict(zip(('verdict', 'class', 'reason', 'choice', 'position',
                         'tokens', 'logprobs', 'envelope'), words,
                        strict=True))


def request(r):
    """One of the many forms a request may have."""
    body = {'model': 'stories', 'max_tokens': r.randint(1, 40)}
    start = r.randint(0, 8)
    prompt = ' '.join(WORDS.split()[start:start + r.randint(1, 6)])
    target = r.choice((CHAT, COMPLETIONS))
    if r.random() < .4:
        body['temperature'] = 0
    else:
        body.update(temperature=r.choice((0.3, 0.8, 1, 1.7)),
                    seed=r.choice((0, 1, -5, 2**62, r.randint(0, 10**9))))
        if r.random() < .4:
            body['top_p'] = r.choice((0.1, 0.5, 0.95, 1))
        if r.random() < .3:
            body['top_k'] = r.choice((1, 5, 40, -1))
    if r.random() < .3:
        body['n'] = r.randint(2, 3)
    if r.random() < .3:
        body['stop'] = r.choice(('.', ['girl', ' the'], ', ', 'zzz'))
    if r.random() < .5:
        body['stream'] = True
        if r.random() < .7:
            body['stream_options'] = {'include_usage': True}
    if r.random() < .5:
        body['return_token_ids'] = True
    if target == CHAT:
        body['messages'] = [{'role': 'user', 'content': prompt + ' 🙂é'}]
        if r.random() < .6:
            body.update(logprobs=True, top_logprobs=r.randint(0, 5))
        return target, body
    body['prompt'] = r.choice((prompt, [prompt, 'The'], [1, 403, 407]))
    if r.random() < .6:
        body['logprobs'] = r.randint(0, 5)
    elif r.random() < .3:
        body['echo'] = True
    return target, body


class Honest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.judge = Judge()

    @classmethod
    def tearDownClass(cls):
        cls.judge.close()

    def test_every_honest_answer_matches(self):
        """150 requests, six at a time, in one engine with one batch."""
        r = random.Random(3)
        asked = [request(r) for _ in range(150)]
        answers = [None] * len(asked)
        with Prover() as p:
            def client(first):
                for i in range(first, len(asked), 6):
                    answers[i] = p.ask(*asked[i])
            clients = [threading.Thread(target=client, args=(i,))
                       for i in range(6)]
            for c in clients:
                c.start()
            for c in clients:
                c.join()
        compared = 0
        for (target, body), exchange in zip(asked, answers):
            self.assertEqual(exchange['status'], 200, exchange)
            for forced in (False, True):
                v = self.judge.verdict(exchange, forced)
                self.assertEqual(v['verdict'], 'MATCH',
                                 (v, forced, exchange))
                compared += int(v['logprobs'])
        self.assertGreater(compared, 2000)

    def test_what_cannot_be_checked_is_not_a_match(self):
        with Prover() as p:
            unseeded = p.ask(COMPLETIONS, {'model': 'stories', 'prompt': 'a'})
            wrong = p.ask(COMPLETIONS, {'model': 'stories', 'prompt': 'a',
                                        'temperature': -1})
        for exchange, reason in ((unseeded, 'unseeded'),
                                 (wrong, 'error_answer')):
            v = self.judge.verdict(exchange)
            self.assertEqual((v['verdict'], v['reason']),
                             ('UNCHECKABLE', reason))


ASKED = {'model': 'stories', 'prompt': 'Once upon a time', 'max_tokens': 24,
         'temperature': 0.8, 'seed': 7, 'logprobs': 2}
PLAIN = {k: v for k, v in ASKED.items() if k != 'logprobs'}


class Cheating(unittest.TestCase):
    def cheat(self, kind, body):
        judge = Judge()
        with Prover('--cheat', kind, '--cheat-request', '2') as p:
            verdicts = [judge.verdict(p.ask(COMPLETIONS, dict(body, **more)))
                        for more in ({'seed': 1}, {}, {'seed': 3})]
        judge.close()
        self.assertEqual([verdicts[i]['verdict'] for i in (0, 2)],
                         ['MATCH', 'MATCH'])
        self.assertEqual(verdicts[1]['verdict'], 'MISMATCH', verdicts[1])
        return verdicts[1]

    def test_other_weights_are_a_logprob_at_the_first_position(self):
        v = self.cheat('other-weights', ASKED)
        self.assertEqual((v['class'], v['position']), ('logprob', '0'))

    def test_an_altered_token_is_a_token_at_its_position(self):
        v = self.cheat('altered-token', ASKED)
        self.assertEqual((v['class'], v['position']), ('token', '2'))
        v = self.cheat('altered-token', PLAIN)
        self.assertEqual((v['class'], v['position']), ('token', '2'))

    def test_another_temperature_is_a_token(self):
        self.assertEqual(self.cheat('temperature', ASKED)['class'], 'token')

    def test_a_cached_answer_is_a_token_or_logprob_at_the_start(self):
        v = self.cheat('cached-answer', ASKED)
        self.assertIn(v['class'], ('token', 'logprob'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
