#pragma once
// CPython's C API as the agent uses it, looked up at run time: the library is linked to no Python. All names are in 3.9 to 3.14.
#include <stdint.h>
#include <sys/types.h>

#include <utility>

namespace gmt::inject {

/// A Python object, never looked into (but see search.cpp).
struct Py;

#define GMT_PYTHON_API(X)                                                     \
  X(add_pending_call, "Py_AddPendingCall", int (*)(int (*)(void *), void *))  \
  X(is_initialized, "Py_IsInitialized", int (*)())                            \
  X(ensure, "PyGILState_Ensure", int (*)())                                   \
  X(release, "PyGILState_Release", void (*)(int))                             \
  X(save_thread, "PyEval_SaveThread", void *(*)())                            \
  X(restore_thread, "PyEval_RestoreThread", void (*)(void *))                 \
  X(thread_state, "PyThreadState_Get", void *(*)())                           \
  X(error_clear, "PyErr_Clear", void (*)())                                   \
  X(compile, "Py_CompileString", Py *(*)(const char *, const char *, int))    \
  X(evaluate, "PyEval_EvalCode", Py *(*)(Py *, Py *, Py *))                   \
  X(call, "PyObject_CallFunctionObjArgs", Py *(*)(Py *, ...))                 \
  X(builtins, "PyEval_GetBuiltins", Py *(*)())                                \
  X(modules, "PyImport_GetModuleDict", Py *(*)())                             \
  X(dict_new, "PyDict_New", Py *(*)())                                        \
  X(dict_set, "PyDict_SetItemString", int (*)(Py *, const char *, Py *))      \
  X(dict_get, "PyDict_GetItemString", Py *(*)(Py *, const char *))            \
  X(dict_next, "PyDict_Next", int (*)(Py *, ssize_t *, Py **, Py **))         \
  X(attribute, "PyObject_GetAttrString", Py *(*)(Py *, const char *))         \
  X(list_new, "PyList_New", Py *(*)(ssize_t))                                 \
  X(list_append, "PyList_Append", int (*)(Py *, Py *))                        \
  X(list_size, "PyList_Size", ssize_t (*)(Py *))                              \
  X(list_item, "PyList_GetItem", Py *(*)(Py *, ssize_t))                      \
  X(is_collected, "PyObject_IS_GC", int (*)(Py *))                            \
  X(type_slot, "PyType_GetSlot", void *(*)(Py *, int))                        \
  X(text, "PyUnicode_FromStringAndSize", Py *(*)(const char *, ssize_t))      \
  X(text_bytes, "PyUnicode_AsUTF8AndSize", const char *(*)(Py *, ssize_t *))  \
  X(number, "PyLong_FromUnsignedLongLong", Py *(*)(unsigned long long))       \
  X(as_number, "PyLong_AsUnsignedLongLongMask", unsigned long long (*)(Py *)) \
  X(function, "PyCFunction_NewEx", Py *(*)(void *, Py *, Py *))               \
  X(hold, "Py_IncRef", void (*)(Py *))                                        \
  X(drop, "Py_DecRef", void (*)(Py *))                                        \
  X(none, "_Py_NoneStruct", Py *)

/// From 3.11 on: while it is entered, no trace function, profile function or monitoring tool is called on this thread.
#define GMT_PYTHON_API_OPTIONAL(X)                                 \
  X(enter_tracing, "PyThreadState_EnterTracing", void (*)(void *)) \
  X(leave_tracing, "PyThreadState_LeaveTracing", void (*)(void *))

template <class T>
struct PythonSymbol {
  using type = T;
};

struct PythonApi {
#define GMT_FIELD(field, name, ...) PythonSymbol<__VA_ARGS__>::type field;
  GMT_PYTHON_API(GMT_FIELD)
  GMT_PYTHON_API_OPTIONAL(GMT_FIELD)
#undef GMT_FIELD
};

/// Null: no Python in the process, or one that lacks a symbol. Looked up once found; takes the loader's lock.
const PythonApi *python_api();
/// What that found.
extern const PythonApi *g_api;

/// A new None, and a number (all bits set where it is none).
Py *none();
uint64_t number_of(Py *value);

/// A reference that is released; null: none. What failed leaves no error.
class Held {
 public:
  explicit Held(Py *object) : object_(object) {
    if (!object) g_api->error_clear();
  }
  ~Held() {
    if (object_) g_api->drop(object_);
  }
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;
  operator Py *() const { return object_; }
  /// To the caller.
  Py *give() { return std::exchange(object_, nullptr); }

 private:
  Py *object_;
};

/// Appends a new object to the list; null: None.
inline void append_new(Py *list, Py *made) {
  const Held object(made);
  g_api->list_append(list, object ? object : g_api->none);
}

}  // namespace gmt::inject
