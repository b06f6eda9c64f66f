// As much of libtorch_cuda.so as the agent reads: the tables of the workspaces that PyTorch keeps for cuBLAS.
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <tuple>

namespace c10 {
struct Device {
  int8_t type, index;
};
struct DataPtr {
  void *data = nullptr;
  std::unique_ptr<void, void (*)(void *)> context{nullptr, nullptr};
  Device device{1, 0};
};
}  // namespace c10

namespace at::cuda {
using Table = std::map<std::tuple<void *, void *>, c10::DataPtr>;
struct TableWithMutex {
  Table map;
  std::shared_mutex mutex;
};
TableWithMutex &cublas_handle_stream_to_workspace() {
  static TableWithMutex table;
  return table;
}
Table &cublaslt_handle_stream_to_workspace() {
  static Table table;
  return table;
}
}  // namespace at::cuda

/// A workspace for the handle `key` of device 2, in the first table or the second.
extern "C" void add_workspace(uint64_t key, uint64_t address, bool second) {
  at::cuda::Table &table =
      second ? at::cuda::cublaslt_handle_stream_to_workspace() : at::cuda::cublas_handle_stream_to_workspace().map;
  c10::DataPtr &own = table[{reinterpret_cast<void *>(key), nullptr}];
  own.data = reinterpret_cast<void *>(address);
  own.device.index = 2;
}

/// The count does not fit the tree any more, as while another thread is at it.
extern "C" void break_table() {
  reinterpret_cast<uint64_t *>(&at::cuda::cublas_handle_stream_to_workspace().map)[5] += 1;
}
