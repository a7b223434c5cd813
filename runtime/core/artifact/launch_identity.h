// Room core/artifact: the identity of a launch, by which recordings name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/core/abi/argument.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/base/hash.h"

namespace mneme::artifact {

/// Returns a hash of grid, block, shared memory, cooperative flag, cluster and the bytes of every
/// argument that identify a launch: no pointers, and of a structure the members that are read.
/// `bytesOf(index, offset, sizeBytes)` returns bytes of the value of an argument.
template <typename BytesOf>
uint64_t launchIdentity(const Dim3& grid, const Dim3& block, const Dim3& cluster,
                        uint64_t sharedBytes, bool isCooperative,
                        const std::vector<KernelArg>& args, const BytesOf& bytesOf) {
  struct Shape {
    Dim3 grid, block;
    uint64_t sharedBytes;
    uint64_t isCooperative;
  };
  static_assert(sizeof(Shape) == 40); // no padding: every byte counts
  const Shape shape{grid, block, sharedBytes, isCooperative ? 1u : 0u};
  uint64_t hash = hash64(std::as_bytes(std::span(&shape, 1)));
  if (cluster.x != 1 || cluster.y != 1 || cluster.z != 1)
    hash = combineHashes(hash, hash64(std::as_bytes(std::span(&cluster, 1))));
  for (size_t index = 0; index < args.size(); ++index)
    args[index].visitValues([&](uint64_t offset, uint64_t sizeBytes, ArgKind) {
      hash = combineHashes(hash, hash64(bytesOf(index, offset, sizeBytes)));
    });
  return hash;
}

/// Returns the bytes of an argument with zeros in place of the words for which `isAddress` holds;
/// `storage` holds them if they differ.
template <typename IsAddress>
std::span<const std::byte> withoutAddresses(std::span<const std::byte> bytes,
                                            const IsAddress& isAddress,
                                            std::vector<std::byte>& storage) {
  storage.assign(bytes.begin(), bytes.end());
  uint64_t word = 0;
  for (size_t at = 0; at + sizeof word <= storage.size(); at += sizeof word) {
    std::memcpy(&word, storage.data() + at, sizeof word);
    if (word != 0 && isAddress(word))
      std::memset(storage.data() + at, 0, sizeof word);
  }
  return storage;
}

} // namespace mneme::artifact
