// Ranges of NVTX around allocations, as `nvtx_program [PAIRS]`: with a number, so many empty ranges, and what one took in nanoseconds.
// Exit status 0: NVTX answered as it does without a tool.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#if GMT_HAS_NVTX_HEADERS
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_standin.h"
#endif

namespace c10 {
struct Device {
  int8_t type, index;
};
void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
}  // namespace c10

namespace {

uint64_t g_address;
bool g_wrong;

void allocate(int64_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(g_address += 0x1000), bytes, 0, 0, {1, 0});
}
void told(int depth) { g_wrong |= depth != -2; }

nvtxEventAttributes_t about() {
  nvtxEventAttributes_t said{};
  said.version = NVTX_VERSION;
  said.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return said;
}

void ranges() {
  told(nvtxRangePushA("before"));  // nobody has allocated: this process may use no GPU
  allocate(512);
  told(nvtxRangePushA("train_step"));
  nvtxEventAttributes_t said = about();
  said.messageType = NVTX_MESSAGE_TYPE_ASCII;
  said.message.ascii = "attention";
  told(nvtxRangePushEx(&said));
  allocate(1024);
  told(nvtxRangePop());
  told(nvtxRangePushW(L"Größe 例 🙂"));
  allocate(2048);
  told(nvtxRangePop());
  nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
  said.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  said.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  told(nvtxDomainRangePushEx(domain, &said));
  const nvtxRangeId_t id = nvtxRangeStartA("across");
  nvtxMarkA("a mark is none");
  told(nvtxDomainRangePop(domain));
  std::thread([id] {
    told(nvtxRangePushA("a thread that allocates nothing"));
    told(nvtxRangePop());
    allocate(4096);
    nvtxRangeEnd(id);
  }).join();
  told(nvtxRangePushEx(nullptr));
  told(nvtxRangePop());
  told(nvtxRangePushA(
      "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234é"));
  told(nvtxRangePop());
  told(nvtxRangePop());  // train_step
  told(nvtxRangePop());  // before
  told(nvtxRangePop());  // one too many
  told(nvtxRangePushA("to the end"));
  allocate(8192);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    ranges();
    return g_wrong;
  }
  allocate(512);
  const long pairs = std::atol(argv[1]);
  for (int round = 0; round < 2; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < pairs; ++i) {
      nvtxRangePushA("attention");
      nvtxRangePop();
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    std::printf("%.1f\n", took.count() / static_cast<double>(pairs));
  }
  return 0;
}
