// A stand-in for PyTorch's libtorch_python.so: operations that make nodes and allocate, with the GIL given up as PyTorch's bindings
// do, or held as a few of them do. Python's functions are looked for in the program: no headers of a version are needed.
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void *PyEval_SaveThread();
void PyEval_RestoreThread(void *);
int PyGILState_Ensure();
void PyGILState_Release(int);
void *PyObject_CallObject(void *, void *);
void Py_DecRef(void *);
void tell(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device);
}
namespace at::sequence_number {
uint64_t get_and_increment();
}

namespace {

constexpr uint64_t kCuda = 1;
constexpr int64_t kBytes = 512;

/// Letters, in their order: `n` makes a node, `a` allocates a block, `c` calls back into Python.
void work(const char *operation, uintptr_t *address, void *callback) {
  for (; *operation; ++operation) {
    if (*operation == 'n') at::sequence_number::get_and_increment();
    if (*operation == 'a') tell(reinterpret_cast<void *>((*address)++ << 9), kBytes, 0, 0, kCuda);
    if (*operation == 'c') {
      const int state = PyGILState_Ensure();
      Py_DecRef(PyObject_CallObject(callback, nullptr));
      PyGILState_Release(state);
    }
  }
}

}  // namespace

/// The blocks' addresses count up from `address`, in 512 bytes. Called with the GIL.
EXPORT void operation(const char *words, uintptr_t address, void *callback) {
  void *thread = PyEval_SaveThread();
  work(words, &address, callback);
  PyEval_RestoreThread(thread);
}

/// The same without giving up the GIL.
EXPORT void held_operation(const char *words, uintptr_t address, void *callback) { work(words, &address, callback); }
