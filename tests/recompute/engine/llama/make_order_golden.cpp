// make_order_golden.cpp - golden_order.txt from GNU's C++ library itself:
//   c++ -O2 make_order_golden.cpp && ./a.out > golden_order.txt
// Rows: sort (a all, p partial), n, n_top, seed, distinct values, and the
// FNV-1a digest of the ids in their places, that row's n_top first ones.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

struct rated {
    uint32_t id;
    float logit;
};

static bool before(const rated &a, const rated &b)
{
    return a.logit > b.logit;
}

static void row(char kind, size_t n, size_t n_top, uint32_t seed, uint32_t span)
{
    std::mt19937 random(seed);
    std::vector<rated> v(n);
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < n; i++)
        v[i] = {(uint32_t)i, (float)(random() % span)};
    if (kind == 'a')
        std::sort(v.begin(), v.end(), before);
    else
        std::partial_sort(v.begin(), v.begin() + n_top, v.end(), before);
    for (size_t i = 0; i < n_top; i++)
        h = (h ^ v[i].id) * 0x100000001b3;
    std::printf("%c %zu %zu %u %u %016llx\n", kind, n, n_top, seed, span,
                (unsigned long long)h);
}

int main()
{
    static const size_t sizes[] = {1,  2,  3,   15,  16,   17,   31,  33,
                                   64, 97, 255, 512, 1000, 4096, 20000};

    for (size_t n : sizes)
        for (uint32_t span : {1u, 3u, 50u, 100000u}) {
            row('a', n, n, (uint32_t)n, span);
            for (size_t top : {(size_t)1, n / 3, n - 1, n})
                if (top > 0)
                    row('p', n, top, (uint32_t)(n + top), span);
        }
}
