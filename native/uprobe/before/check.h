#pragma once
// Compares what is known of the time before with what PyTorch's allocator itself tells at its first report on each device.
#include <cstdint>
#include <cstdio>
#include <string>

namespace gmt::uprobe {

/// `1.50 GB`
inline std::string bytes_text(uint64_t bytes) {
  constexpr const char *kUnits[] = {"KB", "MB", "GB", "TB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; unit++) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

class BeforeCheck {
 public:
  static constexpr uint32_t kDevices = 64;

  /// A block of before is known.
  void add(uint8_t device, uint64_t bytes) {
    if (device < kDevices) known_[device] += bytes;
  }
  /// `allocated`: what is handed out on the device behind a report of `bytes` (< 0: freed). What is to be said of it, once for each
  /// device; else empty.
  std::string see(uint8_t device, uint64_t allocated, int64_t bytes) {
    if (device >= kDevices || told_ & 1ull << device) return {};
    told_ |= 1ull << device;
    return text(device, allocated - static_cast<uint64_t>(bytes));
  }

 private:
  std::string text(uint8_t device, uint64_t before) const {
    const uint64_t known = known_[device];
    if (before == 0 && known == 0) return {};
    std::string text =
        "When the tracer attached, tensors on gpu_" + std::to_string(device) + " held " + bytes_text(before) + "; ";
    if (known == before) return text + "all of it is known.";
    if (known == 0) return text + "none of it is known.";
    if (known < before) return text + bytes_text(before - known) + " of it is not known.";
    return text + bytes_text(known - before) + " more stands as before attach than there was.";
  }

  uint64_t known_[kDevices] = {};
  uint64_t told_ = 0;
};

}  // namespace gmt::uprobe
