// Runs a program on a GPU, whose driver is a fake, with librecord.so preloaded.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/unit/record/guest_run.h"

namespace mneme::record::test {

inline Run runOnGpu(const std::string& mode, bool isRecorded, const std::string& environment = "") {
  // The driver is opened once and for ever, which a leak checker reports.
  return run(mode, isRecorded,
             "ASAN_OPTIONS=symbolize=0:detect_leaks=0 LD_LIBRARY_PATH=" MNEME_TEST_GPU_DRIVER " " +
                 environment,
             MNEME_TEST_GPU_GUEST);
}

/// Reads from the begin of a region before the launch.
inline void readAt(const Run& run, const artifact::Instance& instance, uint64_t address,
                   std::span<std::byte> content) {
  const auto prologue = artifact::Snapshot::open(run.directory / "data" / instance.prologue);
  for (size_t index = 0; index < prologue.regions().size(); ++index)
    if (prologue.regions()[index].address == address)
      prologue.read(index, 0, content);
}

} // namespace mneme::record::test
