#pragma once
// NVTX 3 as its headers do it (nvtx3/nvToolsExt.h, nvtxDetail/nvtxInit.h), for machines without them: at the first call the library that
// NVTX_INJECTION64_PATH names gets to fill in the functions, and what it leaves out does nothing.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#define NVTX_VERSION 3
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2, NVTX_MESSAGE_TYPE_REGISTERED = 3 };
using nvtxRangeId_t = uint64_t;
using nvtxDomainHandle_t = struct nvtxDomain *;
using nvtxStringHandle_t = struct nvtxString *;
struct nvtxEventAttributes_t {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
  } payload;
  int32_t messageType;
  union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
  } message;
};
constexpr unsigned NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t);

namespace nvtx {
using Function = void (*)();
inline Function g_core[16], g_core2[16];

inline const void *export_table(uint32_t id) {
  static const struct {
    size_t bytes;
    int (*table)(int, Function ***, unsigned *);
  } callbacks{sizeof callbacks, [](int module, Function ***table, unsigned *count) {
                static Function *core[16], *core2[16];
                for (int i = 1; i < 16; i++) core[i] = &g_core[i], core2[i] = &g_core2[i];
                if (module != 1 && module != 5) return 0;
                *table = module == 1 ? core : core2;
                *count = 16;
                return 1;
              }};
  return id == 1 ? &callbacks : nullptr;
}
inline bool load() {
  const char *path = std::getenv("NVTX_INJECTION64_PATH");
  void *library = path ? dlopen(path, RTLD_LAZY) : nullptr;
  auto *initialize =
      library ? reinterpret_cast<int (*)(const void *(*)(uint32_t))>(dlsym(library, "InitializeInjectionNvtx2"))
              : nullptr;
  return initialize && initialize(export_table);
}
template <class Result, class... Arguments>
Result call(Function (&table)[16], int number, Result otherwise, Arguments... arguments) {
  static const bool loaded = load();
  return loaded && table[number] ? reinterpret_cast<Result (*)(Arguments...)>(table[number])(arguments...) : otherwise;
}
}  // namespace nvtx

inline int nvtxRangePushA(const char *text) { return nvtx::call(nvtx::g_core, 9, -2, text); }
inline int nvtxRangePushW(const wchar_t *text) { return nvtx::call(nvtx::g_core, 10, -2, text); }
inline int nvtxRangePushEx(const nvtxEventAttributes_t *said) { return nvtx::call(nvtx::g_core, 8, -2, said); }
inline int nvtxRangePop() { return nvtx::call(nvtx::g_core, 11, -2); }
inline nvtxRangeId_t nvtxRangeStartA(const char *text) { return nvtx::call(nvtx::g_core, 5, nvtxRangeId_t{0}, text); }
inline void nvtxRangeEnd(nvtxRangeId_t id) { nvtx::call(nvtx::g_core, 7, 0, id); }
inline void nvtxMarkA(const char *text) { nvtx::call(nvtx::g_core, 2, 0, text); }
inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
  return nvtx::call(nvtx::g_core2, 12, nvtxDomainHandle_t{}, name);
}
inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *text) {
  return nvtx::call(nvtx::g_core2, 10, nvtxStringHandle_t{}, domain, text);
}
inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *said) {
  return nvtx::call(nvtx::g_core2, 4, -2, domain, said);
}
inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return nvtx::call(nvtx::g_core2, 5, -2, domain); }
