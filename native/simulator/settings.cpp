#include "settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simulator/driver/address_space.h"

namespace sim {

namespace {

void complain(const char *variable, const char *value, const char *wanted) {
  fprintf(stderr, "simulated GPU: %s=%s is not %s; the default is used\n", variable, value, wanted);
}

bool parse_number(const char *text, uint64_t &value, const char **rest) {
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  char *end;
  value = strtoull(text, &end, 10);
  *rest = end;
  return errno == 0;
}

bool parse_bytes(const char *text, uint64_t &bytes) {
  const char *unit;
  if (!parse_number(text, bytes, &unit)) return false;
  static const struct {
    const char *name;
    uint64_t bytes;
  } units[] = {{"", 1},    {"B", 1},   {"KiB", KIB}, {"MiB", MIB},    {"GiB", GIB},      {"K", KIB},
               {"M", MIB}, {"G", GIB}, {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}};
  for (const auto &known : units) {
    if (strcasecmp(unit, known.name) == 0) return !__builtin_mul_overflow(bytes, known.bytes, &bytes);
  }
  return false;
}

}  // namespace

void read_settings(Settings &settings) {
  settings.memory_bytes = 24 * GIB;
  settings.name = "Simulated GPU";
  const char *rest;
  uint64_t number;
  if (const char *value = getenv("GPU_MEMTRACE_SIM_DEVICES")) {
    if (parse_number(value, number, &rest) && !*rest && number <= 64) {
      settings.devices = static_cast<int>(number);
    } else {
      complain("GPU_MEMTRACE_SIM_DEVICES", value, "a number from 0 to 64");
    }
  }
  if (const char *value = getenv("GPU_MEMTRACE_SIM_MEMORY")) {
    if (parse_bytes(value, number) && number >= PAGE && number <= 1024 * GIB) {
      settings.memory_bytes = number / PAGE * PAGE;
    } else {
      complain("GPU_MEMTRACE_SIM_MEMORY", value, "a size from 2MiB to 1024GiB, such as 24GiB");
    }
  }
  if (const char *value = getenv("GPU_MEMTRACE_SIM_NAME")) settings.name = strdup(value);
}

}  // namespace sim
