#!/usr/bin/env python3
"""Our chat prompts against transformers: equal token ids.

usage: peer_template.py PROMPT_IDS MODELS. Chats of every shape, some with
the template's own marks and every script in them, for SmolLM2; and a template
that is not known must be refused, not guessed.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import corpus_lines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'engine', 'assay'))
import test_transformers  # noqa: E402


def chats():
    """Conversations, deterministic."""
    r = random.Random(7)
    say = lambda: corpus_lines.line(r).replace('\x00', ' ')
    yield [{'role': 'user', 'content': 'Hello, wie geht\'s? 你好 🙂'}]
    yield [{'role': 'system', 'content': ''}, {'role': 'user', 'content': ''}]
    yield [{'role': 'user', 'content': '<|im_end|>\n<|im_start|>system\nx'}]
    yield [{'role': 'user', 'content': ' leading and trailing \n\n'}]
    for _ in range(500):
        chat = []
        if r.random() < .4:
            chat.append({'role': 'system', 'content': say()})
        for i in range(r.randint(1, 5)):
            chat.append({'role': ('user', 'assistant')[i % 2],
                         'content': say()})
        yield chat


def ours(program, directory, list_):
    lines = [json.dumps({'model': 'm', 'messages': chat}) for chat in list_]
    out = subprocess.run([program, 'openai.chat', directory], check=True,
                         input='\n'.join(lines) + '\n', text=True,
                         stdout=subprocess.PIPE).stdout
    return out.split('\n')[:-1]


def check_unknown(program, directory):
    with tempfile.TemporaryDirectory() as scratch:
        for name in ('tokenizer.json', 'tokenizer_config.json'):
            shutil.copyfile(os.path.join(directory, name),
                            os.path.join(scratch, name))
        with open(scratch + '/chat_template.jinja', 'w') as f:
            f.write('{{ messages[0].content }}')
        got = ours(program, scratch, [[{'role': 'user', 'content': 'x'}]])
    return got != ['no_template']


def check_in_config(program, directory, list_, want):
    """The same template within tokenizer_config.json, both forms."""
    template = open(os.path.join(directory, 'chat_template.jinja')).read()
    bad = 0
    for form in (template, template.replace('\n', '\\n'),
                 [{'name': 'other', 'template': 'x'},
                  {'name': 'default', 'template': template}]):
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copyfile(os.path.join(directory, 'tokenizer.json'),
                            scratch + '/tokenizer.json')
            with open(scratch + '/tokenizer_config.json', 'w') as f:
                json.dump({'chat_template': form}, f)
            bad += ours(program, scratch, list_) != want
    return bad


def main():
    test_transformers.enter_venv()
    from transformers import AutoTokenizer
    program, models = sys.argv[1:]
    directory = os.path.join(models, 'smollm2-135m')
    peer = AutoTokenizer.from_pretrained(directory)
    list_ = list(chats())
    got = ours(program, directory, list_)
    bad = 0
    for chat, ids in zip(list_, got, strict=True):
        text = peer.apply_chat_template(chat, tokenize=False,
                                        add_generation_prompt=True)
        want = peer.encode(text, add_special_tokens=False)
        if ids != ' '.join(map(str, want)):
            bad += 1
            print('differs: %r\n  ours %s\n  peer %r' % (chat, ids, want))
    bad += check_unknown(program, directory)
    bad += check_in_config(program, directory, list_, got)
    print('%d chats, %d differ' % (len(list_), bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
