// uprobe_python_late LIBPYTHON LIBRARY: loads libpython with RTLD_LOCAL, waits, starts Python, and lets a Python function call the
// probed function; then once more in a second life of the interpreter. The tracer finds it mapped but not initialized at first.
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

void *libpython;
int (*probed)(void *, size_t);
size_t life;

template <class F>
F *symbol(void *library, const char *name) {
  auto *function = reinterpret_cast<F *>(library ? dlsym(library, name) : nullptr);
  if (!function) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::exit(2);
  }
  return function;
}

/// The Python function `call`.
void *call(void *, void *) {
  probed(nullptr, life);
  return symbol<void *(long)>(libpython, "PyLong_FromLong")(0);
}

/// PyMethodDef, as it is in every version.
struct Method {
  const char *name;
  void *(*function)(void *, void *);
  int flags;
  const char *doc;
};
Method method = {"call", call, 4 /* METH_NOARGS */, nullptr};

bool run_once(const char *script) {
  life++;
  symbol<void(int)>(libpython, "Py_InitializeEx")(0);
  void *module = symbol<void *(const char *)>(libpython, "PyImport_AddModule")("__main__");
  void *function = symbol<void *(void *, void *, void *)>(libpython, "PyCFunction_NewEx")(&method, nullptr, nullptr);
  symbol<int(void *, const char *, void *)>(libpython, "PyObject_SetAttrString")(module, "call", function);
  const int failed = symbol<int(const char *, void *)>(libpython, "PyRun_SimpleStringFlags")(script, nullptr);
  symbol<int()>(libpython, "Py_FinalizeEx")();
  return failed == 0;
}

}  // namespace

int main(int, char **arguments) {
  usleep(100000);
  libpython = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  probed = symbol<int(void *, size_t)>(dlopen(arguments[2], RTLD_NOW), "cuMemAlloc_v2");
  usleep(200000);
  return run_once("def inner():\n  call()\n\ndef outer():\n  inner()\n\ninput()\nouter()\n") &&
                 run_once("def inner():\n  call()\n\ndef outer():\n  inner()\n\nouter()\n")
             ? 0
             : 1;
}
