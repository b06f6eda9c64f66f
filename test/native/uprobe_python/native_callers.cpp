// uprobe_native_callers: a program without Python whose memory is taken by functions that call one another.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace {

void *driver;

template <class F>
F *call(const char *name) {
  return reinterpret_cast<F *>(dlsym(driver, name));
}

}  // namespace

// Exported and not, with and without a mangled name.
extern "C" __attribute__((noinline, visibility("default"))) int native_inner(uint64_t *address) {
  const int result = call<int(uint64_t *, size_t)>("cuMemAlloc_v2")(address, 4096);
  return result + (*address == 1);
}
namespace callers {
__attribute__((noinline)) int outer(uint64_t *address) {
  const int result = native_inner(address);
  return result + (*address == 2);
}
}  // namespace callers

int main() {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *context = nullptr;
  uint64_t address = 0;
  if (call<int(unsigned)>("cuInit")(0) || call<int(void **, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)) return 2;
  for (int i = 0; i < 3; i++)
    if (callers::outer(&address)) return 1;
  return 0;
}
