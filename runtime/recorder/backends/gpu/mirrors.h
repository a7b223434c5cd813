// Room recorder: copies of memory on the host, kept from when it is hashed until it is taken.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "runtime/recorder/device_access.h"
#include "runtime/recorder/slab.h"

namespace mneme::record::gpu {

/// By the address of the region.
using Mirrors = std::unordered_map<uint64_t, Slab>;

/// Lets other threads go on for a few milliseconds.
void pauseShortly() noexcept;

/// Copies host memory that other threads may change or unmap, and hashes the copies: what is hashed
/// is what is taken. Words that a kernel may have changed since `before`, if given, are read twice:
/// those that go on changing while it does not run are not its own, and are as they were before.
/// `pause` is what happens between the reads. \throws Error{OutOfMemory}
void hashMirrored(std::span<const HashTask> tasks, const Mirrors* before, Mirrors& mirrors,
                  void (*pause)() = pauseShortly);

} // namespace mneme::record::gpu
