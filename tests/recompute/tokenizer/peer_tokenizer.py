#!/usr/bin/env python3
"""Our tokenizer against the package tokenizers: equal ids and equal text.

usage: peer_tokenizer.py TOKENIZER_IDS MODELS. Over a corpus of 10,000 lines
for every model under MODELS and for variants of their tokenizer.json that use
the other stages, and over every code point for the patterns. Installs the
package into a virtual environment under $ASSAY_CACHE (default ~/.cache/assay).
SPDX-License-Identifier: Apache-2.0
"""
import copy
import json
import os
import struct
import subprocess
import sys
import tempfile

import corpus_lines

PACKAGE = 'tokenizers==0.23.3'
# Variants whose patterns name classes: tried over all of Unicode.
EVERY_CODE_POINT = ('o200k words', 'classes')


def enter_environment():
    """Runs this script again with the package, installing it once."""
    cache = os.environ.get('ASSAY_CACHE', os.path.expanduser('~/.cache/assay'))
    venv = os.path.join(cache, 'venv-tokenizers')
    python = os.path.join(venv, 'bin', 'python')
    done = os.path.join(venv, 'installed-' + PACKAGE)
    if not os.path.exists(done):
        subprocess.run([sys.executable, '-m', 'venv', venv], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '-q', PACKAGE],
                       check=True)
        open(done, 'w').close()
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        os.execv(python, [python] + sys.argv)


def ours(program, directory, texts):
    data = b''.join(struct.pack('>I', len(t)) + t
                    for t in (x.encode() for x in texts))
    run = subprocess.run([program, directory], input=data,
                         stdout=subprocess.PIPE)
    if run.returncode != 0:
        sys.exit('%s: exit %d' % (directory, run.returncode))
    rows = [row.split('\t') for row in run.stdout.decode().split('\n')[:-1]]
    for with_, without, text, plain, raw in rows:
        yield ([int(x) for x in with_.split()],
               [int(x) for x in without.split()],
               bytes.fromhex(text).decode(), bytes.fromhex(plain).decode(),
               bytes.fromhex(raw))


def compare(program, directory, name, texts):
    from tokenizers import Tokenizer
    peer = Tokenizer.from_file(os.path.join(directory, 'tokenizer.json'))
    texts = list(texts)
    bad = 0
    for text, got in zip(texts, ours(program, directory, texts), strict=True):
        ids = peer.encode(text).ids
        want = (ids, peer.encode(text, add_special_tokens=False).ids,
                peer.decode(ids, skip_special_tokens=False), peer.decode(ids))
        if got[:4] != want:
            bad += 1
            if bad <= 5:
                print('%s: %r\n  ours %r\n  peer %r' %
                      (name, text[:200], got[:4], want))
    print('%-34s %6d texts, %d differ' % (name, len(texts), bad))
    return bad


def split(pattern, behavior='Isolated', invert=False):
    return {'type': 'Split', 'pattern': pattern, 'behavior': behavior,
            'invert': invert}


BYTES = {'type': 'ByteLevel', 'add_prefix_space': False,
         'trim_offsets': True, 'use_regex': False}
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def added(form, content, **flags):
    """Its id is the vocabulary's, or the next free one."""
    free = len(form['model']['vocab'])
    free += sum(t['id'] >= free for t in form['added_tokens'])
    token = {'id': form['model']['vocab'].get(content, free), 'content': content, 'single_word': False,
             'lstrip': False, 'rstrip': False, 'normalized': False,
             'special': False}
    token.update(flags)
    return token


def byte_level_variants(form):
    """Variants of a byte-level tokenizer.json."""
    steps = {
        'llama 3 words': [split({'Regex': LLAMA3}), BYTES],
        'o200k words': [split({'Regex': O200K}), BYTES],
        'digits one by one': [{'type': 'Digits', 'individual_digits': True},
                              dict(BYTES, use_regex=True)],
        'digits together': [{'type': 'Digits', 'individual_digits': False},
                            dict(BYTES, use_regex=True)],
        'prefix space': [dict(BYTES, use_regex=True, add_prefix_space=True)],
        'classes': [split({'Regex': r'\w+|[^\w\s]+'}, invert=True,
                          behavior='Removed'), BYTES],
        'negated classes': [split({'Regex': r'\W\d|\D\s|\P{L}\p{^N}|\u4e00'}),
                            BYTES],
        'look-around': [split({'Regex': r'(?<=\p{Lu})\p{Ll}++|^a|b$'}), BYTES],
    }
    for behavior in ('Removed', 'Isolated', 'MergedWithPrevious',
                     'MergedWithNext', 'Contiguous'):
        for invert in (False, True):
            steps['%s%s' % (behavior, ', inverted' * invert)] = [
                split({'String': 'a'}, behavior, invert), BYTES]
    for name, list_ in steps.items():
        variant = copy.deepcopy(form)
        variant['pre_tokenizer'] = {'type': 'Sequence', 'pretokenizers': list_}
        yield name, variant
    variant = copy.deepcopy(form)
    variant['model']['ignore_merges'] = True
    for content, flags in (
            ('time', ['single_word']), ('[INST]', ['lstrip']),
            ('👍🏽', ['rstrip', 'special']), ('\n\n', []),
            ('girl', ['lstrip', 'rstrip', 'normalized']),
            ('girls', ['normalized']), ('...', ['single_word'])):
        variant['added_tokens'].append(
            added(variant, content, **dict.fromkeys(flags, True)))
    yield 'added tokens, ignore_merges', variant
    variant = copy.deepcopy(form)
    variant['post_processor'] = {'type': 'Sequence', 'processors': [
        {'type': 'ByteLevel', 'add_prefix_space': True, 'trim_offsets': False,
         'use_regex': True},
        {'type': 'TemplateProcessing',
         'single': [{'SpecialToken': {'id': 'x', 'type_id': 0}},
                    {'Sequence': {'id': 'A', 'type_id': 0}},
                    {'SpecialToken': {'id': 'y', 'type_id': 0}}],
         'pair': [{'Sequence': {'id': 'A', 'type_id': 0}},
                  {'Sequence': {'id': 'B', 'type_id': 1}}],
         'special_tokens': {
             'x': {'id': 'x', 'ids': [1, 2], 'tokens': ['a', 'b']},
             'y': {'id': 'y', 'ids': [0], 'tokens': ['c']}}}]}
    yield 'tokens around', variant


def fallback_variants(form):
    """Variants of a tokenizer.json with byte fallback."""
    for scheme in ('first', 'always', 'never'):
        for cut in (True, False):
            variant = copy.deepcopy(form)
            variant['normalizer'] = None
            variant['pre_tokenizer'] = {
                'type': 'Metaspace', 'replacement': '▁',
                'prepend_scheme': scheme, 'split': cut}
            variant['decoder'] = {'type': 'Sequence', 'decoders': [
                {'type': 'ByteFallback'},
                dict(variant['pre_tokenizer'])]}
            yield 'Metaspace %s, split %s' % (scheme, cut), variant
    for fuse in (True, False):
        variant = copy.deepcopy(form)
        variant['model'].update(byte_fallback=False, fuse_unk=fuse)
        yield 'unknown tokens, fuse %s' % fuse, variant
    variant = copy.deepcopy(form)
    variant['model'].update(unk_token=None, byte_fallback=False)
    variant['decoder'] = None
    yield 'no unknown token, no decoder', variant
    variant = copy.deepcopy(form)
    for b in (0xe4, 0x9f, 0x00):
        del variant['model']['vocab']['<0x%02X>' % b]
    yield 'some bytes missing', variant
    variant = copy.deepcopy(form)
    for content, single in ((' time', False), ('the girl', True)):
        variant['added_tokens'].append(
            added(variant, content, normalized=True, single_word=single))
    yield 'normalized added tokens', variant
    variant = copy.deepcopy(form)
    variant['normalizer']['normalizers'].insert(
        0, {'type': 'Replace', 'pattern': {'Regex': r'\s{2,}'},
            'content': ' '})
    variant['decoder']['decoders'] = [
        {'type': 'Replace', 'pattern': {'Regex': '▁+'}, 'content': ' '},
        {'type': 'ByteFallback'}, {'type': 'Fuse'},
        {'type': 'Strip', 'content': ' ', 'start': 2, 'stop': 0}]
    yield 'patterns replaced', variant


def main():
    enter_environment()
    program, models = sys.argv[1:]
    corpus = corpus_lines.lines(10000)
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        for model in sorted(os.listdir(models)):
            directory = os.path.join(models, model)
            bad += compare(program, directory, model, corpus)
            form = json.load(open(os.path.join(directory, 'tokenizer.json')))
            wide = form['model']['byte_fallback']
            for name, variant in (fallback_variants if wide
                                  else byte_level_variants)(form):
                with open(scratch + '/tokenizer.json', 'w') as f:
                    json.dump(variant, f)
                texts = corpus[:800]
                if name in EVERY_CODE_POINT:
                    texts = texts + list(corpus_lines.every_code_point())
                bad += compare(program, scratch, name, texts)
            bad += compare(program, directory, 'every code point',
                           corpus_lines.every_code_point())
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
