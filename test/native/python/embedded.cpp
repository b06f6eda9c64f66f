// python_embedded LIBPYTHON: a program that loads libpython with RTLD_LOCAL, late, and starts and ends it twice. Run by
// python/versions.py for each Python that has a shared library.
#include <dlfcn.h>

#include "check.h"
#include "python/frames.h"

using namespace gmt::python;

namespace {

void *libpython;
Walk seen;
char described[kMinDescriptionBytes + 4096];

template <class F>
F *python(const char *name) {
  auto *function = reinterpret_cast<F *>(dlsym(libpython, name));
  if (!function) {
    std::fprintf(stderr, "no %s in libpython\n", name);
    std::exit(2);
  }
  return function;
}

/// The Python function `probe`: keeps the stack and the description of its innermost code object.
void *probe(void *, void *) {
  if (walk(seen)) describe_code(seen.frames[0], 1, described, sizeof described);
  return python<void *(long)>("PyLong_FromLong")(0);
}

/// PyMethodDef, as it is in every version.
struct Method {
  const char *name;
  void *(*function)(void *, void *);
  int flags;
  const char *doc;
};
Method method = {"probe", probe, 4 /* METH_NOARGS */, nullptr};

void run_once() {
  python<void(int)>("Py_InitializeEx")(0);
  CHECK(discover() == Support::kReady);
  void *module = python<void *(const char *)>("PyImport_AddModule")("__main__");
  void *function = python<void *(void *, void *, void *)>("PyCFunction_NewEx")(&method, nullptr, nullptr);
  python<int(void *, const char *, void *)>("PyObject_SetAttrString")(module, "probe", function);
  seen = {};
  int failed = python<int(const char *, void *)>("PyRun_SimpleStringFlags")(
      "def inner():\n  probe()\n\ndef outer():\n  inner()\n\nouter()\n", nullptr);
  CHECK_EQ(failed, 0);
  CHECK_EQ(seen.depth, 3u);
  CHECK(!seen.cut);
  CHECK_EQ(reinterpret_cast<gmt_code_record *>(described)->first_line, 1u);
  CHECK_EQ(std::string(described + sizeof(gmt_code_record), 13), "<string>inner");
  python<int()>("Py_FinalizeEx")();
  CHECK_EQ(walk_hash(), 0u);
}

}  // namespace

int main(int argc, char **argv) {
  CHECK(discover() == Support::kNoPython);
  libpython = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!libpython) {
    std::fprintf(stderr, "python_embedded LIBPYTHON: %s\n", argc == 2 ? dlerror() : "no library named");
    return 2;
  }
  CHECK(discover() == Support::kNoPython);
  CHECK_EQ(walk_hash(), 0u);
  run_once();
  run_once();
  return gmt::test::failures() != 0;
}
