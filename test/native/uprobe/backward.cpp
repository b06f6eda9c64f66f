// Runs PyTorch's backward pass on a thread that Python knows nothing of, as its engine does on a machine with a GPU, and lets a
// hook of a tensor allocate there. It is compiled without PyTorch: a Tensor is one pointer.
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

using Tensors = std::vector<void *>;
using Backward = void (*)(const Tensors &tensors, const Tensors &gradients, std::optional<bool> retain, bool create,
                          const Tensors &inputs);
using Report = void (*)(void *address, int64_t bytes, uint64_t allocated, uint64_t reserved, uint64_t device);

static thread_local uint64_t next_address;
static Report report;

/// Whom the hook tells that GPU memory was allocated.
EXPORT void set_report(Report to) { report = to; }

/// A hook of a tensor: GPU memory is allocated, 1024 bytes further each time.
EXPORT void allocate(void *) {
  constexpr uint64_t kCuda = 1;
  report(reinterpret_cast<void *>(next_address), 512, 512, 2 << 20, kCuda);
  next_address += 1024;
}

/// Backward from `tensor` (a TensorImpl) by torch::autograd::backward; hooks allocate from `address` on.
EXPORT void run_backward(Backward function, void *tensor, uint64_t address) {
  std::thread([=] {
    next_address = address;
    function({tensor}, {}, std::nullopt, false, {});
  }).join();
}
