// Uses odd_driver.cpp: `odd_program MODE`. It prints "ready", waits for a line, does it, and waits for another.
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {
extern std::jmp_buf odd_way_out;
int cuInit(unsigned);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemAllocManaged(uint64_t *, size_t, unsigned);
int cuMemFree_v2(uint64_t);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuCtxGetCurrent(void **);
int cuCtxGetDevice(int *);
}

namespace {

uint64_t g_address;

__attribute__((noinline)) void nested() {
  for (int i = 0; i < 10; i++) cuMemAllocManaged(&g_address, 100, 1);
  for (int i = 0; i < 5; i++) cuMemAlloc_v2(&g_address, 200);
}

/// Calls from deeper in the stack than the one that was left.
__attribute__((noinline)) void deeper(int calls) {
  [[maybe_unused]] volatile char room[8192];
  room[0] = 1;
  for (int i = 0; i < calls; i++) cuMemAlloc_v2(&g_address, 300);
}

__attribute__((noinline)) void left() {
  if (setjmp(odd_way_out) == 0) cuMemAlloc_v2(&g_address, 13);
  deeper(200);
}

/// The context was chosen before the tracer came.
void *g_context;
void contexts() {
  cuMemAlloc_v2(&g_address, 100);  // nobody has told the context yet
  cuCtxGetCurrent(&g_context);
  int device = 0;
  cuCtxGetDevice(&device);
  for (int i = 0; i < 3; i++) cuMemAlloc_v2(&g_address, 200);
}

bool next() {
  char line[16];
  return std::fgets(line, sizeof line, stdin) != nullptr;
}

}  // namespace

int main(int count, char **words) {
  if (count != 2) return 2;
  void *context = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 5);
  cuCtxSetCurrent(context);
  std::printf("ready\n");
  std::fflush(stdout);
  if (!next()) return 1;
  if (std::strcmp(words[1], "nested") == 0) nested();
  if (std::strcmp(words[1], "left") == 0) left();
  if (std::strcmp(words[1], "contexts") == 0) contexts();
  return 0;
}
