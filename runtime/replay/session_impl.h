// Room replay (internal): what a session has open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/devices/device.h"
#include "runtime/replay/build.h"
#include "runtime/replay/element_types.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/textures.h"

namespace mneme::replay {

struct Session::Impl {
  artifact::KernelRecord record;
  artifact::Instance instance;
  std::vector<std::vector<std::byte>> modules;
  std::unique_ptr<artifact::Snapshot> prologue;
  std::unique_ptr<artifact::Snapshot> epilogue;
  std::unique_ptr<device::Device> device;
  std::string part; ///< useRecordedPart()
  std::unique_ptr<MemoryImage> image;
  std::unique_ptr<Textures> textures; ///< with the values of the arguments
  std::vector<Label> labels;
  std::unique_ptr<ElementTypes> types;
  std::unique_ptr<ModuleCache> modulesOnDevice;
  bool isMemoryTrusted = true; ///< restoring what the recorded launch changed is enough
  bool isMemoryFresh = true;   ///< nothing ran yet
  double openSeconds = 0, deviceOpenSeconds = 0, uploadSeconds = 0;
};

} // namespace mneme::replay
