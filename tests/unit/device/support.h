// Loading and launching the hand-written images.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/core/base/file.h"
#include "runtime/emulator/executor/executor.h"

namespace test {

using mneme::device::LaunchShape;
using mneme::device::cpu::FaultKind;
using mneme::device::cpu::Image;
using mneme::device::cpu::LaunchOutcome;

inline std::vector<std::byte> imageBytes(const std::string& name) {
  // The images lie elsewhere where the build tree is not.
  const char* elsewhere = std::getenv("MNEME_TEST_IMAGE_DIR");
  const std::string directory = elsewhere ? elsewhere : TEST_IMAGE_DIR;
  return mneme::readFile(directory + "/test_image_" + name + ".so");
}

inline std::unique_ptr<Image> loadImage(const std::string& name) {
  return Image::load(imageBytes(name));
}

inline LaunchShape shapeOf(uint32_t blocks, uint32_t threads) {
  LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

/// One launch of the images that take (out, mode, scratch).
struct Launched {
  LaunchOutcome outcome;
  std::vector<uint32_t> out;
};

inline Launched launch(Image& image, uint32_t mode, const LaunchShape& shape,
                       double timeoutSeconds = 20, std::vector<uint32_t> scratch = {}) {
  const uint64_t threads = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2] *
                           shape.block[0] * shape.block[1] * shape.block[2];
  Launched result;
  result.out.assign(threads, 0);
  scratch.resize(4096);
  uint32_t* out = result.out.data();
  uint32_t* scratchData = scratch.data();
  void* args[] = {&out, &mode, &scratchData};
  result.outcome = run(image, shape, args, timeoutSeconds);
  return result;
}

} // namespace test
