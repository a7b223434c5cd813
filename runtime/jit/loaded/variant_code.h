// Room jit/loaded: what a variant makes of loaded code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compiler/service/request.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/ptx_limits.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/tuned/file.h"

namespace mneme::jit {

/// The limits that the variant gives PTX.
embed::PtxLimits limitsOf(const tuned::Variant& variant);
/// Whether the variant is for other code than the program loaded, which has no IR.
bool hasOtherCode(const tuned::Variant& variant);
/// Whether the variant's code takes such blocks.
bool takesBlock(const tuned::Variant& variant, const mneme_dim3& block);

/// Handles of textures and samplers in code are its own, as variables are.
bool hasHandles(const std::vector<std::byte>& ptx);
/// The PTX of a program's code. \throws Error{Unsupported} if it has none that may be changed
std::vector<std::byte> ptxIn(const std::vector<std::byte>& image, const std::string& target);

/// Whether one of the kernels has a variant in the file.
bool hasTunedIr(const embed::BlobSet& blobs, const tuned::File& file);
/// Returns the IR of a kernel; nothing if the code carries none.
std::optional<KernelCode> irOf(const embed::BlobSet& blobs, const std::string& kernel);
/// Returns the file's variants that fit this code, without dimensions where these must stay.
std::vector<tuned::Variant> variantsFor(const KernelCode& code, const tuned::File& file);
/// Returns the values that become constants in a launch.
std::vector<ArgValue> constantsOf(const tuned::Variant& variant, const KernelCode& code,
                                  void* const* args);
/// Tells code apart that variants make for values and, where they matter, dimensions.
/// \param index  of the variant
uint64_t keyOf(size_t index, const tuned::Variant& variant, const tuned::Dims& dims,
               const std::vector<ArgValue>& values);

} // namespace mneme::jit
