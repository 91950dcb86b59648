#!/usr/bin/env python3
"""Writes the fuzz corpora of GGUF files: make_gguf_corpus.py DIRECTORY.

Comes in: a directory. Goes out: in its gguf/, small files, good ones and ones
with a lie in them, each named for what it holds; in its llama_model/, models.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import struct
import sys

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMS = {U8: 'B', I8: 'b', U16: 'H', I16: 'h', U32: 'I', I32: 'i', F32: 'f',
         BOOL: '?', U64: 'Q', I64: 'q', F64: 'd'}


def string(s):
    return struct.pack('<Q', len(s)) + s.encode()


def scalar(kind, v):
    return string(v) if kind == STRING else struct.pack('<' + FORMS[kind], v)


def value(key, kind, v):
    return string(key) + struct.pack('<I', kind) + scalar(kind, v)


def array(key, kind, items, n=None):
    n = len(items) if n is None else n
    return (string(key) + struct.pack('<IIQ', ARRAY, kind, n) +
            b''.join(scalar(kind, v) for v in items))


def tensor(name, dims, kind, offset):
    return (string(name) + struct.pack('<I', len(dims)) +
            struct.pack('<%dQ' % len(dims), *dims) +
            struct.pack('<IQ', kind, offset))


def file(values, tensors, data, align=32, version=3):
    out = b'GGUF' + struct.pack('<IQQ', version, len(tensors), len(values))
    out += b''.join(values) + b''.join(tensors)
    return out + bytes(-len(out) % align) + bytes(data)


ARCH = value('general.architecture', STRING, 'llama')
CORPUS = {
    'empty': file([], [], 0),
    'one_q8_0': file([ARCH], [tensor('a', [32, 2], 8, 0)], 68),
    'two_f32': file([ARCH], [tensor('a', [4], 0, 0),
                             tensor('b', [4, 2], 0, 32)], 64),
    'q6_k': file([], [tensor('a', [256, 1], 14, 0)], 210),
    'every_value': file([value('k%d' % k, k, 1) for k in FORMS] +
                        [value('s', STRING, 'text')], [], 0),
    'arrays': file([array('tokens', STRING, ['<s>', '', 'a']),
                    array('scores', F32, [0.0, -1.0]),
                    array('types', I32, [3, -2])], [], 0),
    'alignment': file([value('general.alignment', U32, 64)],
                      [tensor('a', [4], 0, 0)], 16, align=64),
    'bad_alignment': file([value('general.alignment', U32, 3)], [], 0),
    'array_too_long': file([array('x', F32, [1.0], n=1 << 40)], [], 0),
    'nested': file([string('x') + struct.pack('<IIQ', ARRAY, ARRAY, 1)],
                   [], 0),
    'overlap': file([], [tensor('a', [4], 0, 0), tensor('b', [4], 0, 0)], 32),
    'twice': file([], [tensor('a', [4], 0, 0), tensor('a', [4], 0, 32)], 64),
    'outside': file([], [tensor('a', [1 << 20], 0, 0)], 32),
    'product': file([], [tensor('a', [1 << 40, 1 << 40], 0, 0)], 32),
    'no_whole_block': file([], [tensor('a', [31], 8, 0)], 64),
    'five_dimensions': file([], [tensor('a', [1] * 5, 0, 0)], 32),
    'version_2': file([ARCH], [], 0, version=2),
}

SIZES = {0: (1, 4), 1: (1, 2), 8: (32, 34), 2: (32, 18), 7: (32, 24)}
HIDDEN, FFN, HEADS, DIM, VOCAB = 32, 32, 2, 16, 4


def model(kind, extra=(), head=False):
    """One layer of 32 by 32, matrices of one type."""
    q, kv = HEADS * DIM, DIM
    layer = {'attn_q': (HIDDEN, q), 'attn_k': (HIDDEN, kv),
             'attn_v': (HIDDEN, kv), 'attn_output': (q, HIDDEN),
             'ffn_gate': (HIDDEN, FFN), 'ffn_up': (HIDDEN, FFN),
             'ffn_down': (FFN, HIDDEN)}
    names = [('token_embd.weight', (HIDDEN, VOCAB), kind),
             ('output_norm.weight', (HIDDEN,), 0),
             ('blk.0.attn_norm.weight', (HIDDEN,), 0),
             ('blk.0.ffn_norm.weight', (HIDDEN,), 0)]
    names += [('blk.0.%s.weight' % n, d, kind) for n, d in layer.items()]
    names += [('output.weight', (HIDDEN, VOCAB), kind)] if head else []
    values = [ARCH] + list(extra) + [
        value('llama.' + key, U32, n) for key, n in (
            ('context_length', 64), ('embedding_length', HIDDEN),
            ('block_count', 1), ('feed_forward_length', FFN),
            ('attention.head_count', HEADS),
            ('attention.head_count_kv', 1))]
    values.append(value('llama.attention.layer_norm_rms_epsilon', F32, 1e-5))
    tensors, data = [], b''
    for name, dims, kind in names:
        tensors.append(tensor(name, dims, kind, len(data)))
        n = dims[0] * (dims[1] if len(dims) > 1 else 1)
        data += bytes(i * 7 % 59 for i in range(
            n // SIZES[kind][0] * SIZES[kind][1]))
        data += bytes(-len(data) % 32)
    return file(values, tensors, data)


MODELS = {
    'f32': model(0), 'f16': model(1), 'q8_0': model(8), 'q4_0': model(2),
    'q5_1': model(7), 'head': model(8, head=True),
    'linear': model(8, [value('llama.rope.scaling.type', STRING, 'linear'),
                        value('llama.rope.scaling.factor', F32, 2.0)]),
    'half_turned': model(8, [value('llama.rope.dimension_count', U32, 8)]),
    'yarn': model(8, [value('llama.rope.scaling.type', STRING, 'yarn')]),
    'experts': model(8, [value('llama.expert_count', U32, 8)]),
}

for folder, corpus in (('gguf', CORPUS), ('llama_model', MODELS)):
    for name, data in corpus.items():
        path = pathlib.Path(sys.argv[1]) / folder
        path.mkdir(exist_ok=True)
        (path / name).write_bytes(data)
