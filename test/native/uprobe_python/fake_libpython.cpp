// What looks like libpython, for tests: its exported data, which they fill in.
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT uint64_t _PyRuntime[1024];
uint64_t _PyRuntime[1024] = {1};  // not in .bss
EXPORT uint64_t PyCode_Type[64];
uint64_t PyCode_Type[64] = {1};
EXPORT uint64_t PyType_Type[64];
uint64_t PyType_Type[64] = {1};
EXPORT unsigned long Py_Version;
unsigned long Py_Version = 1;
EXPORT const char *Py_GetVersion() { return "3"; }
