// Room devices/cuda: texture and surface objects for replays.
#pragma once

#include <memory>
#include <span>

#include "runtime/core/abi/texture_object.h"
#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/texture_objects.h"

namespace mneme::device::cuda {

/// As Device::makeTextures(). `context` must outlive the objects.
std::unique_ptr<TextureObjects> makeTextures(Context& context,
                                             std::span<const TextureObject> wanted);

/// What the driver has for a texture to be made of.
CUDA_TEXTURE_DESC descriptorOf(const TextureSampler& sampler);
TextureSampler samplerOf(const CUDA_TEXTURE_DESC& descriptor);
CUDA_RESOURCE_VIEW_DESC descriptorOf(const TextureView& view);
TextureView viewOf(const CUDA_RESOURCE_VIEW_DESC& descriptor);

} // namespace mneme::device::cuda
