#pragma once
// Compares what is known of the time before with what PyTorch's allocator itself tells at its first report on each device.
#include <cstdint>
#include <string>

namespace gmt::uprobe {

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
  std::string text(uint8_t device, uint64_t before) const;

  uint64_t known_[kDevices] = {};
  uint64_t told_ = 0;
};

/// `1.50 GB`
std::string bytes_text(uint64_t bytes);

}  // namespace gmt::uprobe
