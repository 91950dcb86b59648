#!/usr/bin/env python3
"""Golden bits of numerics `fixed`, from docs/numerics-fixed.md alone: every
step is done in exact fractions and rounded once to float32 (nearest even), so
no compiler, libm or fused instruction has a part in it.

usage: make_fixed_golden.py > golden_fixed.txt

Lines: a name, then float32 words in hex. `in` lines are the inputs of the
lines that follow them up to the next `in`.
"""
import struct
import sys
from fractions import Fraction
from math import isqrt


def f32(x):
    """The float32 nearest to a fraction, as a fraction (no overflow here)."""
    if x == 0:
        return Fraction(0)
    sign, x = (-1, -x) if x < 0 else (1, x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** e > x:
        e -= 1
    unit = Fraction(2) ** (max(e, -126) - 23)
    n, rest = divmod(x, unit)
    n = int(n)
    if rest * 2 > unit or (rest * 2 == unit and n & 1):
        n += 1
    return sign * n * unit


def word(x):
    return struct.unpack('<I', struct.pack('<f', float(x)))[0]


def of_word(u):
    return Fraction(struct.unpack('<f', struct.pack('<I', u))[0])


def const(text):
    return f32(Fraction(float.fromhex(text)))


def add(a, b):
    return f32(a + b)


def mul(a, b):
    return f32(a * b)


def div(a, b):
    return f32(a / b)


def fma(a, b, c):
    return f32(a * b + c)


def sqrt(x):
    """Nearest float32 of a square root: 80 bits, then round."""
    scale = 4 ** 100
    return f32(Fraction(isqrt(x.numerator * scale // x.denominator), 2 ** 100))


def tree(lane):
    lane = list(lane)
    apart = 8
    while apart:
        for i in range(apart):
            lane[i] = add(lane[i], lane[i + apart])
        apart //= 2
    return lane[0]


def lanes(values, step):
    lane = [Fraction(0)] * 16
    for i, v in enumerate(values):
        lane[i % 16] = step(lane[i % 16], v)
    return tree(lane)


def exp(x):
    log2e, hi, lo = (const('0x1.715476p0'), const('0x1.62e4p-1'),
                     const('0x1.7f7d1cp-20'))
    c = [const(t) for t in ('0x1p-1', '0x1.555554p-3', '0x1.55548ep-5',
                            '0x1.11127p-7', '0x1.6d8d08p-10',
                            '0x1.9f089ep-13')]
    x = max(Fraction(-104), min(Fraction(89), x))
    big = Fraction(3 * 2 ** 22)
    n = fma(x, log2e, big) - big
    r = fma(n, -hi, x)
    r = fma(n, -lo, r)
    p = c[5]
    for k in (4, 3, 2, 1, 0):
        p = fma(p, r, c[k])
    p = fma(p, mul(r, r), r)
    p = add(p, Fraction(1))
    half = int(n) >> 1
    return mul(mul(p, Fraction(2) ** half), Fraction(2) ** (int(n) - half))


def log(x):
    c = [const(t) for t in
         ('0x1.555548p-2', '-0x1.000006p-2', '0x1.99a4b6p-3', '-0x1.555c4ep-3',
          '0x1.233766p-3', '-0x1.fc220ap-4', '0x1.e6f096p-4', '-0x1.de3c18p-4',
          '0x1.14575p-4')]
    e = 0
    low = of_word(0x3f3504f3)
    while x < low:
        x, e = x * 2, e - 1
    while x >= 2 * low:
        x, e = x / 2, e + 1
    f = add(x, Fraction(-1))
    p = c[8]
    for k in range(7, -1, -1):
        p = fma(p, f, c[k])
    p = mul(p, mul(mul(f, f), f))
    p = fma(Fraction(e), const('0x1.7f7d1cp-20'), p)
    p = fma(Fraction(-1, 2), mul(f, f), p)
    return fma(Fraction(e), const('0x1.62e4p-1'), add(f, p))


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xffffffff,
             a >> 32 ^ c[3] ^ k[1], a & 0xffffffff]
        k = [k[0] + 0x9e3779b9 & 0xffffffff, k[1] + 0xbb67ae85 & 0xffffffff]
    return c


def gumbel(w):
    return -log(-log(Fraction((w >> 9) * 2 + 1, 2 ** 24)))


def draw(logits, t, seed, position, choice):
    best, most = None, None
    for i, x in enumerate(logits):
        w = philox((i // 4, position, choice, 0),
                   (seed & 0xffffffff, seed >> 32))[i % 4]
        v = add(div(x, t), gumbel(w))
        if most is None or v > most:
            best, most = i, v
    return best


def numbers(n, seed):
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) & 0xffffffff
        out.append(Fraction((seed >> 8) - (1 << 23), 1 << 22))
    return out


def line(name, values):
    print(name, *('%08x' % word(v) for v in values))


def main():
    for n, seed in ((3, 1), (16, 2), (37, 3), (200, 4)):
        x, y, z = (numbers(n, seed * 10 + i) for i in range(3))
        line('in', x)
        line('in2', y)
        total = Fraction(0)
        for a, b in zip(x, y):
            total = fma(a, b, total)
        line('dot', [total])
        mean = div(lanes(x, lambda s, v: fma(v, v, s)), Fraction(n))
        scale = div(Fraction(1), sqrt(add(mean, const('0x1.4f8b58p-17'))))
        line('rmsnorm', [mul(w, mul(v, scale)) for v, w in zip(x, y)])
        scaled = [mul(v, Fraction(1, 8)) for v in x]
        e = [exp(add(v, -max(scaled))) for v in scaled]
        line('softmax', e)
        line('sum', [lanes(e, add)])
        line('silu', [mul(div(g, add(Fraction(1), exp(-g))), u)
                      for g, u in zip(x, y)])
        h = n // 2
        line('rope', [fma(x[i], y[i], -mul(x[h + i], y[h + i]))
                      for i in range(h)] +
             [fma(x[h + i], y[i], mul(x[i], y[h + i])) for i in range(h)])
    x = [Fraction(k, 64) + Fraction(1, 4096) for k in range(1, 200)]
    line('in', x)
    line('log', [log(v) for v in x])
    line('exp', [exp(-v) for v in x])
    logits = [Fraction(v) for v in (.5, 1.5, -1, 3, 1, -1, 3, -2, -9, .25)]
    tokens = [draw(logits, Fraction(5, 4), 7, p, 0) for p in range(16)]
    print('tokens', *('%08x' % t for t in tokens))


if __name__ == '__main__':
    sys.exit(main())
