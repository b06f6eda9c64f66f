#pragma once
// FUZZ(log, data, size) { ... }: what is done with an input of a kind. For libFuzzer each is a program; else all are in one.
#include <cstddef>
#include <cstdint>

#ifdef GMT_FUZZERS
#define FUZZ(kind, ...) extern "C" int LLVMFuzzerTestOneInput(__VA_ARGS__)
#else
#define FUZZ(kind, ...) int fuzz_##kind(__VA_ARGS__)
#endif
