#pragma once
// Good inputs of each kind, from which the mutations begin.
#include <cstdint>
#include <string>
#include <vector>

std::vector<std::vector<uint8_t>> made_seeds(const std::string &kind);
/// The same and those of corpus/KIND, among which are those that a fuzzer found something with.
std::vector<std::vector<uint8_t>> seeds_of(const std::string &kind);
