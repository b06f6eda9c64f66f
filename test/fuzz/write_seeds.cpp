// Writes the inputs that are made, not kept: fuzz_seeds FOLDER KIND.
#include <cstdio>
#include <fstream>

#include "seeds.h"

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s FOLDER KIND\n", argv[0]), 2;
  size_t number = 0;
  for (const std::vector<uint8_t> &seed : made_seeds(argv[2])) {
    const std::string path = std::string(argv[1]) + "/seed-" + std::to_string(number++);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(seed.data()), static_cast<std::streamsize>(seed.size()));
    if (!file.flush()) return std::fprintf(stderr, "%s cannot be written.\n", path.c_str()), 1;
  }
  return 0;
}
