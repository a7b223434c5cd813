#include "runtime/artifact/chunk_codec.h"

#include <cstring>
#include <memory>

#include <zstd.h>

namespace mneme::artifact {
namespace {

struct CompressorFree {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct DecompressorFree {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, CompressorFree> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, DecompressorFree> context(ZSTD_createDCtx());
  return context.get();
}

} // namespace

uint64_t compressBound(uint32_t rawBytes) noexcept { return ZSTD_compressBound(rawBytes); }

StoredChunk compressChunk(std::span<const std::byte> raw, int level) {
  StoredChunk stored;
  stored.bytes.resize(compressBound(static_cast<uint32_t>(raw.size())));
  ZSTD_CCtx* context = compressor();
  const size_t size = context ? ZSTD_compressCCtx(context, stored.bytes.data(), stored.bytes.size(),
                                                  raw.data(), raw.size(), level)
                              : raw.size();
  if (ZSTD_isError(size) || size >= raw.size()) {
    stored.bytes.clear();
    return stored;
  }
  stored.bytes.resize(size);
  stored.codec = Codec::Zstd;
  return stored;
}

bool decodeChunk(Codec codec, std::span<const std::byte> stored,
                 std::span<std::byte> out) noexcept {
  switch (codec) {
  case Codec::Zero:
    std::memset(out.data(), 0, out.size());
    return true;
  case Codec::Raw:
    if (stored.size() != out.size())
      return false;
    std::memcpy(out.data(), stored.data(), out.size());
    return true;
  case Codec::Zstd:
    break;
  }
  ZSTD_DCtx* context = decompressor();
  const size_t size =
      context ? ZSTD_decompressDCtx(context, out.data(), out.size(), stored.data(), stored.size())
              : 0;
  return !ZSTD_isError(size) && size == out.size();
}

} // namespace mneme::artifact
