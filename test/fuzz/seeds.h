#pragma once
// Good inputs of each kind, from which the mutations begin.
#include <cstdint>
#include <string>
#include <vector>

std::vector<std::vector<uint8_t>> seeds_of(const std::string &kind);
