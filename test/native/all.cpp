// The main of a program whose cases are in many files: NAME [FILE [CASE]], or NAME --WHAT WORDS… for a PROGRAM(WHAT).
#include "check.h"

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]).starts_with("--"))
    return gmt::test::run_program(argv[1] + 2, {argv + 2, argv + argc});
  return gmt::test::run_cases(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : nullptr);
}
