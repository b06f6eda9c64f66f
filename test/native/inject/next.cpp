// One source of four files: a program, a library in front, one behind and one opened locally. The look-ups that depend on who
// asks must come out the same with another dlsym in front of the C library's.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(NEXT_BACK)
extern "C" int probe_value() { return 1; }
extern "C" int cuda_probe() { return 2; }
extern "C" int cuProbe() { return 3; }
#elif defined(NEXT_FRONT)
namespace {
int next(const char *name) {
  const auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, name));
  return function ? 100 + function() : -1;
}
}  // namespace
extern "C" int probe_value() { return next("probe_value"); }
extern "C" int cuda_probe() { return next("cuda_probe"); }
extern "C" int cuProbe() { return next("cuProbe"); }
extern "C" void *malloc(size_t bytes) {
  static void *(*real)(size_t);
  if (!real) real = reinterpret_cast<void *(*)(size_t)>(dlsym(RTLD_NEXT, "malloc"));
  return real(bytes);
}
#elif defined(NEXT_LOCAL)
extern "C" int local_value() { return 7; }
extern "C" int cuLocal() { return 8; }
extern "C" int ask_default(const char *name) {
  const auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name));
  return function ? function() : -1;
}
#else
extern "C" int probe_value();
extern "C" int cuda_probe();
extern "C" int cuProbe();

int main(int, char **argv) {
  std::printf("next %d %d %d\n", probe_value(), cuda_probe(), cuProbe());
  char path[4096];
  std::snprintf(path, sizeof path, "%.*slibinject_local.so", static_cast<int>(strrchr(argv[0], '/') + 1 - argv[0]),
                argv[0]);
  void *local = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto ask = reinterpret_cast<int (*)(const char *)>(local ? dlsym(local, "ask_default") : nullptr);
  if (!ask) return 1;
  for (const char *name :
       {"local_value", "cuLocal", "probe_value", "cuProbe", "cuptiNothing", "cuNothing", "nothing"}) {
    dlerror();
    const int value = ask(name);
    const char *error = dlerror();
    const char *what = error && strstr(error, "undefined symbol") ? strstr(error, "undefined symbol") : "no error";
    std::printf("%s: in the library %d, in the program %d, %s\n", name, value, dlsym(RTLD_DEFAULT, name) != nullptr,
                what);
    std::printf("by handle: %d\n", dlsym(local, name) != nullptr);
  }
  void *memory = std::malloc(100);
  std::printf("malloc %d\n", memory != nullptr);
  std::free(memory);
  return 0;
}
#endif
