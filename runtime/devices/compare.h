// Room devices: the vocabulary of verification, and its host reference implementation.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/devices/compare_types.h"

namespace mneme::device {

uint64_t sizeOf(DataType type) noexcept;
const char* nameOf(DataType type) noexcept; ///< "f32"
/// Accepts "f32", "float", "F32"... \throws Error{InvalidArgument} listing the known names.
DataType parseDataType(const std::string& text);

/// Host reference: both addresses must be readable host memory. Vectorises the exact case.
CompareReport compareOnHost(const CompareRequest& request);

/// "0x3f800000 (1.0)": bits and value of one element.
std::string formatElement(DataType type, uint64_t bits);

} // namespace mneme::device
