"""The corpus of peer_tokenizer.py: lines of many scripts and of everything
that tokenizers read differently, the same on every run.
SPDX-License-Identifier: Apache-2.0
"""
import random

# First and last letters of scripts; some of Unicode 15 and 16 on purpose.
SCRIPTS = [
    (0x41, 0x5a), (0x61, 0x7a), (0xc0, 0x17f), (0x1e00, 0x1eff),
    (0x370, 0x3ff), (0x400, 0x4ff), (0x531, 0x587), (0x5d0, 0x5ea),
    (0x620, 0x64a), (0x700, 0x74a), (0x780, 0x7b1), (0x904, 0x939),
    (0x985, 0x9b9), (0xa05, 0xa39), (0xa85, 0xab9), (0xb05, 0xb39),
    (0xb83, 0xbb9), (0xc05, 0xc39), (0xc85, 0xcb9), (0xd05, 0xd39),
    (0xd85, 0xdc6), (0xe01, 0xe3a), (0xe81, 0xeb0), (0xf40, 0xf6c),
    (0x1000, 0x102a), (0x10a0, 0x10ff), (0x1100, 0x11ff), (0x1200, 0x135a),
    (0x13a0, 0x13f4), (0x1401, 0x166c), (0x16a0, 0x16ea), (0x1780, 0x17b3),
    (0x1820, 0x1878), (0x2c00, 0x2c5f), (0x2d30, 0x2d67), (0x3041, 0x3096),
    (0x30a1, 0x30fa), (0x3105, 0x312f), (0x3400, 0x4dbf), (0x4e00, 0x9fff),
    (0xa000, 0xa48c), (0xac00, 0xd7a3), (0xfb00, 0xfb06), (0xff21, 0xff5a),
    (0x10000, 0x1000b), (0x10330, 0x1034a), (0x10400, 0x1044f),
    (0x105c0, 0x105f3), (0x11f04, 0x11f33), (0x12000, 0x12399),
    (0x13460, 0x143fa), (0x16d40, 0x16d6c), (0x1d400, 0x1d7ff),
    (0x1e4d0, 0x1e4eb), (0x20000, 0x2a6df), (0x2ebf0, 0x2ee5d),
    (0x31350, 0x323af),
]
SPACES = [' ', '  ', '   ', '\t', '\n', '\r\n', '\r', '\u00a0', '\u1680',
          '\u2003', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\x0b',
          '\x0c', '\x85', '\u180e', '\u200b', '\ufeff', ' \n ', '\n\n\n',
          ' ' * 17, '\t\t']
MARKS = ['\u0301', '\u0308', '\u20dd', '\u093f', '\u0e31', '\ufe0f',
         '\u200d', '\u200c', '\u0489', '\U000e0100', '\u3099']
EMOJI = ['🙂', '👍🏽', '👩\u200d👩\u200d👧', '🇩🇪', '❤️', '🏴\U000e0067\U000e0062'
         '\U000e0065\U000e006e\U000e0067\U000e007f', '1️⃣', '🫨', '🪿', '☃']
DIGITS = ['0', '7', '42', '2024', '1234567890', '3.14', '1,000', '٣٤', '४२',
          '一二', '²', '½', 'Ⅷ', '①', '𝟘𝟙', '\U0001e4f0', '0x1F', '1e-9']
CODE = ['def f(x):\n    return x*x', 'if (a[i] != b->c) { ++n; }', '<div>&amp;',
        'SELECT * FROM t;', '#include <a.h>', "it's", "we'll", "I'D", "'S",
        "don't", "'ſ", "x='re'", 'https://a.example/?q=1&r=%20', 'a_b', '\\n',
        '/* ... */', '"\\u00e9"', '===', '----', '...', '…', '“”', "''", '``']
SPECIAL = ['<s>', '</s>', '<unk>', '<|endoftext|>', '<|im_start|>',
           '<|im_end|>', '<|im_start', 'im_end|>', '<repo_name>', '<reponame>',
           '<file_sep>', '<0x41>', '<0xE4>', '<0x', '<s', '<<s>>', '▁', '▁▁',
           'Ġ', 'Ċ', '<jupyter_code>', '[INST]', '<|begin_of_text|>']
ODD = ['\x00', '\x01', '\x07', '\x08', '\x1b[0m', '\x7f', '\x80', '\x9f',
       '\xad', '\u202e', '\u2066', '\ufffd', '\ufffe', '\uffff', '\ufdd0',
       '\ue000', '\U000f0000', '\U0010ffff', '\U0001ffff', '\u0378', '\u2fff']
WORDS = ('once upon a time there was little girl named Lily she loved to play '
         'outside in the park Der schnelle braune Fuchs naïve café über straße '
         'Привет мир как дела γειά σου κόσμε שלום עולם مرحبا بالعالم नमस्ते '
         'दुनिया 你好世界 こんにちは世界 안녕하세요 สวัสดี xin chào việt İstanbul '
         'ısı DŽ ǆ ﬁ ﬂ Å Å Ω').split()


def letters(r):
    first, last = r.choice(SCRIPTS)
    return ''.join(chr(r.randint(first, last))
                   for _ in range(r.randint(1, 8)))


def anything(r):
    """Any code point that is not a surrogate."""
    while True:
        c = r.randint(0, 0x10ffff) if r.random() < .5 else r.randint(0, 0xffff)
        if not 0xd800 <= c <= 0xdfff:
            return chr(c)


def word(r):
    kind = r.random()
    if kind < .35:
        return r.choice(WORDS)
    if kind < .60:
        return letters(r)
    if kind < .68:
        return r.choice(WORDS) + r.choice(MARKS)
    return r.choice(r.choice([EMOJI, DIGITS, CODE, SPECIAL, ODD, MARKS,
                              SPACES, [anything(r)]]))


def line(r):
    parts = []
    for _ in range(r.randint(0, 18)):
        parts.append(word(r))
        if r.random() < .7:
            parts.append(' ' if r.random() < .7 else r.choice(SPACES))
    return ''.join(parts)


def lines(n, seed=20240601):
    r = random.Random(seed)
    fixed = ['', ' ', '\n', 'a', '▁', '<s>', 'a' * 5000, ' ' * 3000,
             '\n' * 500, 'ab' * 4000, '<s>' * 500, '🙂' * 700, '\x00' * 40]
    return fixed + [line(r) for _ in range(n - len(fixed))]


def every_code_point():
    """Each between a letter and a digit, and after a space, 128 a line."""
    points = [c for c in range(0x110000) if not 0xd800 <= c <= 0xdfff]
    for i in range(0, len(points), 128):
        yield ''.join('a%s1 %s' % (chr(c), chr(c)) for c in points[i:i + 128])
