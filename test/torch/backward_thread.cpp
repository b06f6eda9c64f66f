// Runs a backward pass on a thread of its own, as PyTorch's engine does for each GPU: what it allocates has no Python frames.
#include <ATen/core/Tensor.h>

#include <exception>
#include <thread>

/// `tensor`: a tensor's address, Tensor._cdata of Python. 0, or 1 where it failed.
extern "C" int backward_on_a_thread(void *tensor) {
  int failed = 0;
  std::thread([&] {
    using Impl = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
    try {
      at::Tensor(Impl::unsafe_reclaim_from_nonowning(static_cast<c10::TensorImpl *>(tensor))).backward();
    } catch (const std::exception &) {
      failed = 1;
    }
  }).join();
  return failed;
}
