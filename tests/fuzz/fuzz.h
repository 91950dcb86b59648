/*
 * fuzz.h - what a fuzz target defines; libFuzzer's or fuzz_main.c's main
 * calls it with one input.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
