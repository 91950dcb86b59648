#!/usr/bin/env python3
"""The test engine over HTTP: forms of its replies, continuous batching, the
batch feed, and that each cheat changes what it says it changes.

usage: test_prover.py ASSAY_PROVER MODEL_DIR   (suite e2e)
"""
import http.client
import http.server
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROVER, MODEL = sys.argv[1:3]
DATA_SEGS_IN = 152  # in linux/tcp.h's struct tcp_info


class Sink:
    """Takes feed messages; refuses the first posts when told to."""

    def __init__(self, refuse=0):
        sink = self
        self.messages, self.refuse, self.posts = [], refuse, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                sink.posts += 1
                status = 503 if sink.posts <= sink.refuse else 204
                if status == 204:
                    sink.messages += [json.loads(line)
                                      for line in body.splitlines()]
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0),
                                                      Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def wait(self, done, seconds=120):
        end = time.monotonic() + seconds
        while not done(self.messages):
            assert time.monotonic() < end, 'the feed did not tell it'
            time.sleep(0.02)
        return self.messages

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Prover:
    def __init__(self, *options, feed=None):
        self.dir = tempfile.TemporaryDirectory()
        self.log = os.path.join(self.dir.name, 'cheats')
        self.hidden = os.path.join(self.dir.name, 'hidden')
        command = [PROVER, '--model', MODEL, '--name', 'm', '--port', '0',
                   '--threads', '1', '--cheat-log', self.log, '--hidden-out',
                   self.hidden, *options]
        if feed:
            command += ['--feed', f'127.0.0.1:{feed.port}']
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                        text=True)
        self.port = int(self.process.stdout.readline().split()[2])

    def ask(self, path, body, method='POST'):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
        c.request(method, path, body if isinstance(body, (str, bytes))
                  else json.dumps(body))
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, data

    def complete(self, **body):
        return self._good('/v1/completions', body)

    def chat(self, text, **body):
        body['messages'] = [{'role': 'user', 'content': text}]
        return self._good('/v1/chat/completions', body)

    def _good(self, path, body):
        status, data = self.ask(path, body)
        assert status == 200, (status, data)
        if body.get('stream'):
            return events(data)
        return json.loads(data)

    def cheats(self):
        return [line.split() for line in open(self.log)]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(120)
        self.process.stdout.close()
        self.dir.cleanup()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.stop() == 0


def events(data):
    parts = data.decode().split('\n\n')
    assert parts.pop() == ''
    assert all(p.startswith('data: ') for p in parts)
    assert parts.pop() == 'data: [DONE]'
    return [json.loads(p[6:]) for p in parts]


def same_float32(text):
    """Whether a printed logprob carries all bits of a float32."""
    value = struct.unpack('<f', struct.pack('<f', float(text)))[0]
    return float('%.9g' % value) == float(text)


STORY = 'Once upon a time'
GREEDY = dict(prompt=STORY, max_tokens=24, temperature=0, logprobs=2,
              return_token_ids=True)


class Replies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.p = Prover()

    @classmethod
    def tearDownClass(cls):
        assert cls.p.stop() == 0

    def test_the_story_is_the_models(self):
        r = self.p.complete(**GREEDY)
        self.assertTrue(r['choices'][0]['text'].startswith(
            ', there was a little girl named Lily.'))
        self.assertEqual(r['model'], 'm')
        self.assertTrue(r['id'].startswith('cmpl-'))
        self.assertEqual(r['usage'], {'prompt_tokens': 5,
                                      'completion_tokens': 24,
                                      'total_tokens': 29})
        self.assertEqual(r['choices'][0]['finish_reason'], 'length')

    def test_a_stream_says_what_the_whole_answer_says(self):
        whole = self.p.complete(**GREEDY)['choices'][0]
        parts = self.p.complete(**GREEDY, stream=True)
        self.assertEqual(len(parts), 24)  # one event a token
        choices = [e['choices'][0] for e in parts]
        self.assertEqual(''.join(c['text'] for c in choices), whole['text'])
        self.assertEqual(sum((c['token_ids'] for c in choices), []),
                         whole['token_ids'])
        for key in ('tokens', 'token_logprobs', 'text_offset', 'top_logprobs'):
            self.assertEqual(sum((c['logprobs'][key] for c in choices), []),
                             whole['logprobs'][key])
        self.assertEqual([c['finish_reason'] for c in choices],
                         [None] * 23 + ['length'])
        self.assertEqual(choices[0]['prompt_token_ids'],
                         whole['prompt_token_ids'])

    def test_chat_streams_its_role_its_tokens_and_its_usage(self):
        ask = dict(max_tokens=9, temperature=0, logprobs=True, top_logprobs=3,
                   return_token_ids=True)
        whole = self.p.chat(STORY, **ask)
        parts = self.p.chat(STORY, **ask, stream=True,
                            stream_options={'include_usage': True})
        self.assertEqual(parts[0]['choices'][0]['delta']['role'], 'assistant')
        self.assertEqual(parts[-1]['choices'], [])
        self.assertEqual(parts[-1]['usage'], whole['usage'])
        tokens = [e['choices'][0] for e in parts[1:-1]]
        self.assertEqual(len(tokens), 9)
        self.assertEqual(''.join(t['delta']['content'] for t in tokens),
                         whole['choices'][0]['message']['content'])
        self.assertEqual(sum((t['logprobs']['content'] for t in tokens), []),
                         whole['choices'][0]['logprobs']['content'])
        for entry in whole['choices'][0]['logprobs']['content']:
            self.assertEqual(entry['token'].encode(), bytes(entry['bytes']))
            self.assertEqual(len(entry['top_logprobs']), 3)
            self.assertEqual(entry['top_logprobs'][0]['logprob'],
                             entry['logprob'])
        self.assertTrue(all('usage' not in e for e in
                            self.p.chat(STORY, **ask, stream=True)))

    def test_logprobs_carry_every_bit(self):
        _, data = self.p.ask('/v1/completions', {**GREEDY, 'max_tokens': 60})
        texts = []
        json.loads(data, parse_float=lambda t: texts.append(t) or float(t))
        self.assertGreater(len(texts), 100)
        self.assertTrue(all(same_float32(t) for t in texts))

    def test_a_seed_decides_and_choices_differ(self):
        ask = dict(prompt=STORY, max_tokens=20, temperature=1.2, n=3,
                   return_token_ids=True)
        a = self.p.complete(**ask, seed=1)['choices']
        b = self.p.complete(**ask, seed=1)['choices']
        c = self.p.complete(**ask, seed=2)['choices']
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        self.assertEqual([x['index'] for x in a], [0, 1, 2])
        self.assertEqual(len({x['text'] for x in a}), 3)
        unseeded = {self.p.complete(**ask)['choices'][0]['text']
                    for _ in range(4)}
        self.assertGreater(len(unseeded), 1)

    def test_prompts_of_a_list_are_answered_in_order(self):
        r = self.p.complete(prompt=[STORY, 'The big red'], max_tokens=5,
                            temperature=0)
        alone = self.p.complete(prompt='The big red', max_tokens=5,
                                temperature=0)
        self.assertEqual(len(r['choices']), 2)
        self.assertEqual(r['choices'][1]['text'], alone['choices'][0]['text'])
        ids = self.p.complete(prompt=[1, 403, 407, 261, 378], max_tokens=5,
                              temperature=0)
        self.assertEqual(ids['choices'][0]['text'], r['choices'][0]['text'])

    def test_a_stop_string_ends_the_text_before_it(self):
        for stream in (False, True):
            r = self.p.complete(**GREEDY, stop=['girl', 'Lily'], stream=stream)
            if stream:
                text = ''.join(e['choices'][0]['text'] for e in r)
                last = r[-1]['choices'][0]
            else:
                last = r['choices'][0]
                text = last['text']
            self.assertEqual(text, ', there was a little ')
            self.assertEqual(last['finish_reason'], 'stop')

    def test_each_event_leaves_when_its_token_is_there(self):
        s = socket.create_connection(('127.0.0.1', self.p.port))
        body = json.dumps({**GREEDY, 'max_tokens': 400, 'ignore_eos': True,
                           'stream': True}).encode()
        s.sendall(b'POST /v1/completions HTTP/1.1\r\nHost: x\r\n'
                  b'Content-Length: %d\r\n\r\n%s' % (len(body), body))
        seen = b''
        while not seen.endswith(b'0\r\n\r\n'):
            data = s.recv(65536)
            self.assertTrue(data)
            seen += data
        # Counted by the kernel: how late we read changes nothing.
        info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
        segments, = struct.unpack_from('=I', info, DATA_SEGS_IN)
        s.close()
        chunks = seen.count(b'data: ')
        self.assertEqual(chunks, 401)  # and [DONE]
        self.assertGreater(segments, 300)

    def test_a_client_that_leaves_frees_its_place(self):
        for _ in range(40):  # more than may run at once
            s = socket.create_connection(('127.0.0.1', self.p.port))
            body = json.dumps({**GREEDY, 'max_tokens': 500, 'ignore_eos': True,
                               'stream': True}).encode()
            s.sendall(b'POST /v1/completions HTTP/1.1\r\nHost: x\r\n'
                      b'Content-Length: %d\r\n\r\n%s' % (len(body), body))
            self.assertTrue(s.recv(1000).startswith(b'HTTP/1.1 200'))
            s.close()
        self.assertEqual(self.p.complete(**GREEDY)['usage']
                         ['completion_tokens'], 24)

    def test_errors_say_what_is_wrong(self):
        for status, path, body in (
                (400, '/v1/completions', '{"prompt":'),
                (400, '/v1/completions', {'prompt': 'a', 'max_tokens': 'x'}),
                (400, '/v1/completions', {'prompt': 'a', 'temperature': -1}),
                (400, '/v1/completions', {'prompt': 'a', 'logit_bias':
                                          {'5': 1}}),
                (400, '/v1/completions', {'prompt': [5, 9999]}),
                (400, '/v1/completions', {'prompt': [5] * 600}),
                (400, '/v1/chat/completions', {'prompt': 'a'}),
                (404, '/v1/completions', {'prompt': 'a', 'model': 'other'}),
                (404, '/v2/completions', {'prompt': 'a'})):
            got, data = self.p.ask(path, body)
            self.assertEqual(got, status, (path, body, data))
            self.assertEqual(json.loads(data)['error']['code'], status)
        self.assertEqual(self.p.ask('/v1/completions', '', 'GET')[0], 405)
        self.assertEqual(self.p.ask('/health', '', 'GET'), (200, b''))
        models = json.loads(self.p.ask('/v1/models', '', 'GET')[1])
        self.assertEqual(models['data'][0]['id'], 'm')


def at_once(p, bodies):
    """Sends all, each on its own connection, and returns the answers."""
    out = [None] * len(bodies)

    def one(i):
        out[i] = p.complete(**bodies[i])

    threads = [threading.Thread(target=one, args=(i,))
               for i in range(len(bodies))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


BODIES = [dict(prompt=STORY + ' there' * (i * 7 % 40), max_tokens=30 + i,
               temperature=(i % 3) * 0.6, seed=i, top_p=1 - i % 2 * 0.2,
               logprobs=3, return_token_ids=True, ignore_eos=True,
               n=1 + (i == 5)) for i in range(20)]


def fullest(messages):
    return max(len(m['members']) for m in messages)


class Batching(unittest.TestCase):
    def test_company_changes_no_bit_and_the_feed_tells_it(self):
        sink = Sink(refuse=2)
        # A small budget, so that long prompts are cut into pieces.
        with Prover('--budget', '16', '--running', '12', feed=sink) as p:
            alone = [p.complete(**b)['choices'] for b in BODIES]
            before = len(sink.wait(lambda m: m))
            # How many meet is the machine's doing: again, until all places
            # were taken at once.
            for _ in range(20):
                together = at_once(p, BODIES)
                self.assertEqual([r['choices'] for r in together], alone)
                if fullest(sink.messages) == 12:
                    break
            ids = {r['id'] for r in together}
        messages = sink.messages  # SIGTERM sends the rest first
        self.check_feed(messages, together)
        self.assertEqual(fullest(messages), 12)
        self.assertGreater(before, 0)
        self.assertTrue(ids <= {x['id'] for m in messages
                                for x in m['members']})
        sink.close()

    def check_feed(self, messages, answers):
        self.assertEqual([m['seq'] for m in messages],
                         list(range(len(messages))))
        self.assertEqual(len({m['feed'] for m in messages}), 1)
        at, prompts = {}, {}
        for m in messages:
            self.assertEqual(m['assay'], 'batch-step/1')
            self.assertEqual(set(m), {'assay', 'engine', 'feed', 'seq', 'step',
                                      'time_ns', 'padded', 'members'})
            self.assertRegex(m['time_ns'], '^[0-9]{19}$')
            self.assertLessEqual(sum(x['n'] for x in m['members']), 16)
            for x in m['members']:
                key = x['id'], x['choice']
                self.assertEqual(x['start'], at.get(key, 0))
                self.assertEqual('prompt' in x, key not in at)
                if 'prompt' in x:
                    prompts[key] = x['prompt']
                    self.assertIn('seed', x['params'])
                at[key] = x['start'] + x['n']
        for r in answers:
            for c in r['choices']:
                key = r['id'], c['index']
                self.assertEqual(prompts[key], c['prompt_token_ids'])
                # The last token was not computed on.
                self.assertEqual(at[key], len(prompts[key]) +
                                 len(c['token_ids']) - 1)


SAMPLED = dict(prompt=STORY, max_tokens=24, temperature=0.9, seed=5,
               logprobs=3, return_token_ids=True, ignore_eos=True)


class Cheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Prover() as p:
            cls.honest = p.complete(**SAMPLED)['choices'][0]
            cls.greedy = p.complete(**GREEDY)['choices'][0]

    def cheat(self, kind, *options, ask=None):
        """Three requests, the second cheated on; the answers, the feed."""
        sink = Sink()
        with Prover('--cheat', kind, '--cheat-request', '2', *options,
                    feed=sink) as p:
            answers = [p.complete(**(ask or SAMPLED)) for _ in range(3)]
            log = p.cheats()
            hidden = open(p.hidden).read()
        self.assertEqual(log, [[kind, answers[1]['id']]])
        sink.close()
        told = {x['id'] for m in sink.messages for x in m['members']}
        for i in (0, 2):
            self.assertEqual(answers[i]['choices'][0],
                             self.greedy if ask is GREEDY else self.honest)
            self.assertIn(answers[i]['id'], told)
        return answers[1], told - {a['id'] for a in answers}, \
            answers[1]['id'] in told, hidden

    def first_logprob_difference(self, a):
        mine, theirs = (x['logprobs']['token_logprobs']
                        for x in (self.honest, a['choices'][0]))
        return next((i for i, (x, y) in enumerate(zip(mine, theirs))
                     if x != y), None)

    def test_other_weights_move_the_first_logprob(self):
        a, extra, told, _ = self.cheat('other-weights')
        self.assertEqual(self.first_logprob_difference(a), 0)
        self.assertTrue(told)
        self.assertFalse(extra)

    def test_an_altered_token_is_the_third(self):
        a, _, told, _ = self.cheat('altered-token')
        c = a['choices'][0]
        self.assertEqual(c['token_ids'][:2], self.honest['token_ids'][:2])
        self.assertNotEqual(c['token_ids'][2], self.honest['token_ids'][2])
        self.assertEqual(c['logprobs']['token_logprobs'][:3],
                         self.honest['logprobs']['token_logprobs'][:3])
        self.assertTrue(told)

    def test_another_temperature_chooses_other_tokens(self):
        a, _, told, _ = self.cheat('temperature')
        self.assertNotEqual(a['choices'][0]['token_ids'],
                            self.honest['token_ids'])
        # What is the same so far has the same logprobs: they are raw.
        self.assertIsNot(self.first_logprob_difference(a), 0)
        self.assertTrue(told)

    def test_a_hidden_member_is_in_the_batch_and_in_no_answer(self):
        a, extra, told, hidden = self.cheat('hidden-member')
        self.assertEqual(a['choices'][0], self.honest)
        self.assertEqual(len(extra), 1)
        self.assertTrue(told)
        self.assertTrue(hidden.startswith(extra.pop()))

    def test_an_unreported_request_is_in_no_message(self):
        a, extra, told, _ = self.cheat('unreported')
        self.assertEqual(a['choices'][0], self.honest)
        self.assertFalse(told)
        self.assertFalse(extra)

    def test_a_cached_answer_is_an_earlier_one(self):
        sink = Sink()
        with Prover('--cheat', 'cached-answer', '--cheat-every', '2',
                    feed=sink) as p:
            first = p.complete(**SAMPLED)
            other = p.complete(**{**SAMPLED, 'prompt': 'The big dog'})
            streamed = p.complete(**{**SAMPLED, 'stream': True})
            last = p.complete(**{**SAMPLED, 'stream': True,
                                 'prompt': 'Tom and Sue'})
            log = p.cheats()
        self.assertEqual(log, [['cached-answer', other['id']],
                               ['cached-answer', last[0]['id']]])
        self.assertEqual(other['choices'][0]['text'],
                         first['choices'][0]['text'])
        self.assertEqual(''.join(e['choices'][0]['text'] for e in last),
                         first['choices'][0]['text'])
        self.assertEqual(len(streamed), len(last))
        told = {x['id'] for m in sink.messages for x in m['members']}
        self.assertEqual(told, {first['id'], streamed[0]['id']})
        sink.close()

    def test_greedy_answers_can_be_cheated_on_as_well(self):
        a, _, _, _ = self.cheat('temperature', ask=GREEDY)
        self.assertNotEqual(a['choices'][0]['token_ids'],
                            self.greedy['token_ids'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
