// Room replay: texture and surface objects of a recorded launch, made again on a device.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"

namespace mneme::replay {

/// Device and image must outlive it. Where the device makes no such objects, kernels find none, and
/// holds() says so.
class Textures {
public:
  /// \throws Error if the device cannot make one of the objects
  Textures(device::Device& device, const artifact::KernelRecord& record,
           const artifact::Instance& instance, const MemoryImage& image);

  /// The values of the kernel's arguments, with the addresses and handles of this process.
  const std::vector<std::vector<std::byte>>& arguments() const noexcept { return arguments_; }

  /// Whether launches find what was recorded of a thing that code reads: "textures", "surfaces".
  bool holds(std::string_view read) const noexcept;

  /// Brings the recorded content to the arrays, or other content that their memory has now. Call it
  /// after memory was restored.
  void load(bool isOther = false);
  /// Brings what a launch has left in arrays to memory, where it is compared.
  void store();

private:
  void takeHandles(const artifact::KernelRecord& record);
  bool isPatchable(size_t argument, const artifact::KernelRecord& record) const;

  std::vector<TextureObject> wanted_;
  std::unique_ptr<device::TextureObjects>
      made_; ///< null: none are recorded, or the device has none
  std::vector<std::vector<std::byte>> arguments_;
  bool isWhole_ = false; ///< whether each object is where the kernel looks for it
};

/// Names the memory that holds the content of arrays.
void nameArrays(std::vector<Label>& labels, const MemoryImage& image,
                const std::vector<TextureObject>& textures);

} // namespace mneme::replay
