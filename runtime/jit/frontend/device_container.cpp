#include "runtime/jit/frontend/device_container.h"

#include <cstdint>
#include <string_view>

namespace mneme::frontend {
namespace {

using Bytes = std::vector<std::byte>;

template <typename Value> void add(Bytes& bytes, const Value& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void add(Bytes& bytes, std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), begin, begin + text.size());
}

constexpr uint64_t kCodeObjectAlignment = 4096;

} // namespace

Bytes bundleWith(std::span<const std::byte> image, const std::string& targetId) {
  constexpr std::string_view kMagic = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr std::string_view kHost = "host-x86_64-unknown-linux-gnu-";
  const std::string device = "hipv4-amdgcn-amd-amdhsa--" + targetId;
  Bytes bytes;
  add(bytes, kMagic);
  add(bytes, uint64_t{2});
  for (const std::string_view name : {kHost, std::string_view(device)}) {
    add(bytes, kCodeObjectAlignment);
    add(bytes, uint64_t{name == kHost ? 0 : image.size()});
    add(bytes, uint64_t{name.size()});
    add(bytes, name);
  }
  bytes.resize(kCodeObjectAlignment);
  bytes.insert(bytes.end(), image.begin(), image.end());
  return bytes;
}

} // namespace mneme::frontend
