// Room replay: texture and surface objects of a recorded launch, or of a graph, made again on a
// device.
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
  /// Brings the handles of this process into the arguments of another kernel that sees the same.
  /// Returns for each object whether an argument names it.
  std::vector<bool> rewrite(std::vector<std::vector<std::byte>>& arguments,
                            const artifact::KernelRecord& record);

  /// Whether launches find what was recorded of a thing that code reads: "textures", "surfaces".
  bool holds(std::string_view read) const noexcept { return holds(read, isGiven_); }
  /// Whether those of another kernel do, for which rewrite() returned this.
  bool holds(std::string_view read, const std::vector<bool>& isGiven) const noexcept;

  /// Brings the recorded content to the arrays, or other content that their memory has now. Call it
  /// after memory was restored.
  void load(bool isOther = false);
  /// Brings what a launch has left in arrays to memory, where it is compared.
  void store();

  /// Whether that memory is at this address of the device.
  bool isArray(uint64_t address) const noexcept;

private:
  std::vector<TextureObject> wanted_; ///< with their memory of this process
  std::unique_ptr<device::TextureObjects>
      made_; ///< null: none are recorded, or the device has none
  std::vector<std::vector<std::byte>> arguments_;
  bool isClear_ = true;       ///< no word of an argument may be one of two objects
  std::vector<bool> isGiven_; ///< by object: whether an argument names it
};

/// Names the memory that holds the content of arrays.
void nameArrays(std::vector<Label>& labels, const MemoryImage& image,
                const std::vector<TextureObject>& textures);

} // namespace mneme::replay
