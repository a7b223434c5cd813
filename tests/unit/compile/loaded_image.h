// Images of the CPU device that run in the test itself.
#pragma once

#include <doctest/doctest.h>

#include <dlfcn.h>
#include <vector>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/base/file.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

/// A compiled image, loaded as the CPU device does it.
class LoadedImage {
public:
  explicit LoadedImage(const std::vector<std::byte>& image) {
    const std::filesystem::path path = directory_.path() / "image.so";
    writeFileAtomically(path, image);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(handle_ != nullptr, dlerror());
    header_ = static_cast<const mneme_cpu_image_header*>(dlsym(handle_, "mneme_cpu_image"));
    REQUIRE(header_ != nullptr);
    *header_->services = &services_;
  }
  ~LoadedImage() { dlclose(handle_); }
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const mneme_cpu_image_header& header() const { return *header_; }

  /// Runs all blocks, one after the other; threads must not wait for one another.
  void launch(uint32_t grid, uint32_t block, void* const* arguments) const {
    const mneme_cpu_launch launch = {{grid, 1, 1}, {block, 1, 1}, {1, 1, 1}, 0, arguments, 1,
                                     nullptr};
    for (uint32_t index = 0; index < grid; ++index) {
      mneme_cpu_context context = {&launch, {index, 0, 0}, {0, 0, 0}, 0, 0, nullptr};
      if (header_->run_block) {
        if (header_->set_context)
          header_->set_context(&context);
        header_->run_block(&context);
        continue;
      }
      for (uint32_t thread = 0; thread < block; ++thread) {
        context.threadId[0] = thread;
        context.lane = thread % MNEME_CPU_WARP_SIZE;
        context.warp = thread / MNEME_CPU_WARP_SIZE;
        if (header_->set_context)
          header_->set_context(&context);
        header_->run_thread(&context);
      }
    }
  }

private:
  TemporaryDirectory directory_;
  void* handle_ = nullptr;
  const mneme_cpu_image_header* header_ = nullptr;
  mneme_cpu_services services_ = {};
};

} // namespace mneme::test
