#include "settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simulator/driver/address_space.h"

namespace sim {

bool faults_wanted = false;

namespace {

struct Fault {
  char name[64];
  uint64_t at;  ///< 1 = first call
  int result;
  uint64_t seen;  ///< atomic
};
Fault faults[16];
int fault_count = 0;

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

bool allocates(const char *name) {
  return strstr(name, "Alloc") || strstr(name, "Create") || strstr(name, "Open") || strstr(name, "Reserve");
}

bool parse_fault(char *text, Fault &fault) {
  char *colon = strchr(text, ':');
  if (!colon || colon == text || static_cast<size_t>(colon - text) >= sizeof fault.name) return false;
  memcpy(fault.name, text, static_cast<size_t>(colon - text));
  const char *rest;
  uint64_t result = 0;
  if (!parse_number(colon + 1, fault.at, &rest) || fault.at == 0) return false;
  if (*rest == ':' && !parse_number(rest + 1, result, &rest)) return false;
  fault.result = result ? static_cast<int>(result) : allocates(fault.name) ? OUT_OF_MEMORY : INVALID_VALUE;
  return *rest == 0;
}

void read_faults() {
  const char *value = getenv("GPU_MEMTRACE_SIM_FAIL");
  if (!value || !*value) return;
  char *copy = strdup(value), *place = nullptr;
  for (char *part = strtok_r(copy, ",", &place); part; part = strtok_r(nullptr, ",", &place)) {
    if (fault_count == static_cast<int>(sizeof faults / sizeof *faults) || !parse_fault(part, faults[fault_count])) {
      complain("GPU_MEMTRACE_SIM_FAIL", value, "name:N[:result], at most 16 of them with commas between");
      break;
    }
    ++fault_count;
  }
  free(copy);
  faults_wanted = fault_count > 0;
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
  if (const char *value = getenv("GPU_MEMTRACE_SIM_OOM_AT")) {
    if (parse_number(value, number, &rest) && !*rest) {
      settings.oom_at = number;
    } else {
      complain("GPU_MEMTRACE_SIM_OOM_AT", value, "the number of an allocation call");
    }
  }
  read_faults();
}

CUresult wanted_fault(const char *name) {
  for (int i = 0; i < fault_count; ++i) {
    if (strcmp(faults[i].name, name) != 0) continue;
    if (__atomic_add_fetch(&faults[i].seen, 1, __ATOMIC_RELAXED) == faults[i].at) {
      return static_cast<CUresult>(faults[i].result);
    }
  }
  return SUCCESS;
}

}  // namespace sim
