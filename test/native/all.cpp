// The main of a program whose cases are in many files: PROGRAM [FILE [CASE]].
#include "check.h"

int main(int argc, char **argv) {
  return gmt::test::run_cases(argc > 1 ? argv[1] : nullptr, argc > 2 ? argv[2] : nullptr);
}
