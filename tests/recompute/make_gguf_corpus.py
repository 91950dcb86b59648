#!/usr/bin/env python3
"""Writes the fuzz corpus of GGUF files: make_gguf_corpus.py DIRECTORY.

Comes in: a directory. Goes out: small files, good ones and ones with a lie
in them, each named for what it holds.
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

for name, data in CORPUS.items():
    (pathlib.Path(sys.argv[1]) / name).write_bytes(data)
