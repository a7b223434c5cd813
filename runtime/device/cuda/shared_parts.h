// Room device/cuda: the parts that are the same for all vendors, under the names that those know
// who work inside an application's context.
#pragma once

#include "runtime/device/cuda/driver.h"
#include "runtime/device/gpu/address_blocks.h"
#include "runtime/device/gpu/context.h"
#include "runtime/device/gpu/device_range.h"
#include "runtime/device/gpu/pinned.h"
#include "runtime/device/gpu/queue_runner.h"

namespace mneme::device::cuda {

using gpu::AddressBlocks;
using gpu::ContextScope;
using gpu::DeviceRange;
using gpu::Event;
using gpu::PinnedBuffer;
using gpu::QueueRunner;

} // namespace mneme::device::cuda
