#pragma once
// What a process held before the tracer came, as one sum for each GPU and without lines: of the driver's memory by nvidia-smi, of PyTorch's
// by the total that stands in its first report.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "uprobe/run/process_log.h"

namespace gmt::uprobe {

class EarlierMemory {
 public:
  explicit EarlierMemory(ProcessLog &log) : log_(log) {}

  /// `driver_bytes`: one figure for each GPU on which the process has memory; empty: there is none. `gpus`: how many it can use, 0 = not known.
  void begin(const std::vector<uint64_t> &driver_bytes, uint32_t gpus, uint64_t ns) {
    const gmt_stack_record stack{kStack, 0, GMT_STACK_BEFORE_ATTACH};
    log_.local(0, GMT_STACK, &stack, sizeof stack);
    driver_bytes_ = std::accumulate(driver_bytes.begin(), driver_bytes.end(), uint64_t{0});
    log_.note(GMT_NOTE_ATTACHED, came_at() + driver_text(driver_bytes_, driver_bytes.size()));
    if (gpus == 1)
      place(0, ns);
    else if (driver_bytes.size() > 1)
      settle(ns);
  }
  /// An event on `device`: the memory of a process that has some on one GPU alone is there.
  void place(uint8_t device, uint64_t ns) {
    if (device != GMT_DEVICE_NONE) place_driver(device, ns);
  }
  /// A report of PyTorch's allocator: `allocated` is handed out on the device behind an event of `bytes` (< 0: freed).
  void see_report(uint8_t device, uint64_t allocated, int64_t bytes, uint64_t ns) {
    place(device, ns);
    if (device >= kDevices || reported_ & 1ull << device) return;
    reported_ |= 1ull << device;
    const auto before = static_cast<int64_t>(allocated) - bytes;
    if (before <= 0) return;
    write(GMT_TENSOR_ALLOC, device, static_cast<uint64_t>(before), ns);
    log_.note(GMT_NOTE_ATTACHED,
              "Tensors on gpu_" + std::to_string(device) + " held " + bytes_text(static_cast<uint64_t>(before)) +
                  " before recording began, according to PyTorch. It is one sum without source lines and shrinks "
                  "as they are freed.");
  }
  /// It is not known by now on which GPU the driver's memory is: it is shown without one.
  void settle(uint64_t ns) { place_driver(GMT_DEVICE_NONE, ns); }

 private:
  static constexpr uint32_t kStack = 0xfffffff0;  ///< those of Python count from 1
  static constexpr uint8_t kDevices = 64;

  /// `1.50 GiB`
  static std::string bytes_text(uint64_t bytes) {
    constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) return std::to_string(bytes) + " B";
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit < 3; unit++) value /= 1024;
    char text[32];
    const bool whole = std::llround(value * 100) % 100 == 0;
    std::snprintf(text, sizeof text, "%.*f %s", whole ? 0 : 2, value, kUnits[unit]);
    return text;
  }
  static std::string came_at() {
    const time_t now = ::time(nullptr);
    tm parts{};
    char text[64] = "";
    if (::gmtime_r(&now, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return std::string("The tracer attached at ") + text + " to a running program; ";
  }
  static std::string driver_text(uint64_t bytes, size_t gpus) {
    if (bytes == 0) return "its driver memory at that time is unknown, because nvidia-smi does not report it.";
    return "according to nvidia-smi, it held " + bytes_text(bytes) +
           (gpus > 1 ? " on " + std::to_string(gpus) + " GPUs" : "") +
           ", including its CUDA context. It is one sum without source lines; driver frees of earlier memory are not "
           "subtracted, because their sizes are unknown.";
  }

  /// Once.
  void place_driver(uint8_t device, uint64_t ns) {
    if (const uint64_t bytes = std::exchange(driver_bytes_, 0)) write(GMT_DEVICE_ALLOC, device, bytes, ns);
  }
  void write(gmt_kind kind, uint8_t device, uint64_t bytes, uint64_t ns) {
    log_.event(0, ns, static_cast<uint8_t>(kind), device, GMT_EARLIER_ADDRESS, bytes, kStack);
  }

  ProcessLog &log_;
  uint64_t driver_bytes_ = 0;  ///< that have no event yet
  uint64_t reported_ = 0;      ///< a bit a device
};

}  // namespace gmt::uprobe
