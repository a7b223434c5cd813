#include "runtime/core/artifact/chunk_codec.h"

#include <algorithm>
#include <array>
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

constexpr int kTableLevel = 3;
/// Compression that saves less than this part of a chunk is not worth decompressing.
constexpr size_t kLeastSaving = 32;
constexpr size_t kProbeBytes = 2048;
constexpr size_t kProbes = 3;

/// Size in `out`, or raw.size() if it does not work.
size_t compressInto(std::span<std::byte> out, std::span<const std::byte> raw, int level) {
  ZSTD_CCtx* context = compressor();
  const size_t size =
      context ? ZSTD_compressCCtx(context, out.data(), out.size(), raw.data(), raw.size(), level)
              : raw.size();
  return ZSTD_isError(size) ? raw.size() : size;
}

/// Whether samples from the beginning, the middle and the end do not compress.
bool looksLikeNoise(std::span<const std::byte> raw, int level) {
  if (raw.size() < 4 * kProbes * kProbeBytes)
    return false;
  std::array<std::byte, 2 * kProbeBytes> scratch;
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const auto sample =
        raw.subspan(probe * (raw.size() - kProbeBytes) / (kProbes - 1), kProbeBytes);
    if (compressInto(scratch, sample, level) < kProbeBytes - kProbeBytes / kLeastSaving)
      return false;
  }
  return true;
}

} // namespace

uint64_t compressBound(uint32_t rawBytes) noexcept { return ZSTD_compressBound(rawBytes); }

StoredChunk compressChunk(std::span<const std::byte> raw, int level) {
  StoredChunk stored;
  if (looksLikeNoise(raw, level))
    return stored;
  thread_local std::vector<std::byte> scratch;
  scratch.resize(std::max(scratch.size(), ZSTD_compressBound(raw.size())));
  const size_t size = compressInto(scratch, raw, level);
  if (size > raw.size() - raw.size() / kLeastSaving || size >= raw.size())
    return stored;
  stored.bytes.assign(scratch.data(), scratch.data() + size);
  stored.codec = Codec::Zstd;
  return stored;
}

std::vector<std::byte> compressBytes(std::span<const std::byte> raw) {
  std::vector<std::byte> packed(ZSTD_compressBound(raw.size()));
  const size_t size = compressInto(packed, raw, kTableLevel);
  if (size >= raw.size())
    return {raw.begin(), raw.end()};
  packed.resize(size);
  return packed;
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
