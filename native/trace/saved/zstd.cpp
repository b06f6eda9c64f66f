#include "trace/saved/zstd.h"

#include <zstd.h>

#include <new>

namespace gmt::trace {
namespace {

/// Columns pack nearly as well at the lowest level as at higher ones, which take longer.
constexpr int kLevel = 1;

}  // namespace

Packer::Packer() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

std::span<const std::byte> Packer::pack(std::span<const std::byte> bytes) {
  frame_.resize(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress2(context_.get(), frame_.data(), frame_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) throw std::bad_alloc();  // the only way to fail with room for all
  return {frame_.data(), size};
}

Unpacker::Unpacker() : context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  if (!context_) throw std::bad_alloc();
}

bool Unpacker::unpack(std::span<const std::byte> frame, std::span<std::byte> bytes) {
  return ZSTD_decompressDCtx(context_.get(), bytes.data(), bytes.size(), frame.data(), frame.size()) == bytes.size();
}

}  // namespace gmt::trace
