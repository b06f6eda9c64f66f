#pragma once
// Bytes as a zstd frame with a checksum, and back.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gmt::trace {

class Packer {
 public:
  Packer();
  /// Valid until the next call.
  std::span<const std::byte> pack(std::span<const std::byte> bytes);

 private:
  std::unique_ptr<ZSTD_CCtx_s, size_t (*)(ZSTD_CCtx_s *)> context_;
  std::vector<std::byte> frame_;
};

class Unpacker {
 public:
  Unpacker();
  /// False: it is damaged, or not of that length.
  bool unpack(std::span<const std::byte> frame, std::span<std::byte> bytes);

 private:
  std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s *)> context_;
};

}  // namespace gmt::trace
