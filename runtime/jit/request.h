// Room jit: makes compiler requests from variants. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/jit/jit_pass_plugins.h"
#include "runtime/jit/jit_settings.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/tuned/file.h"

namespace mneme::jit {

/// Returns the arguments, and members of structures, that `variant` turns into constants.
std::vector<ArgPath> specializedArgs(const tuned::Variant& variant, const embed::KernelBlob& blob);

/// Returns why a variant does not fit this kernel: it names arguments that the kernel does not
/// have, or has in another size. Empty if it fits.
std::string whyUnfit(const tuned::Variant& variant, const embed::KernelBlob& blob);

/// Returns why the launch must keep the program's dimensions, despite `variant.launch`: the kernel
/// has code or arguments that Match does not cover. Empty if other dimensions are safe.
std::string whyKeepsDims(const tuned::Variant& variant, const KernelCode& code);

/// Completes the match of a fitting variant with what only the kernel knows: the kinds of
/// arguments, and which members of structures it reads. Only these remain of a structure, without
/// pointers.
void completeMatch(tuned::Match& match, const embed::KernelBlob& blob);

/// What a binary is made for.
struct BinarySpec {
  std::string target;                                  ///< as Backend::target()
  tuned::Dims dims;                                    ///< of its launches
  std::vector<ArgValue> values = {};                   ///< of specializedArgs(), in that order
  std::vector<compile::LambdaValue> lambdaValues = {}; ///< as Kernel::lambdaValues()
  bool placesGlobals = false;                          ///< as Backend::needsPlacedGlobals()
  bool wantsIr = false;
  bool wantsTrace = false;
  std::string rank = {};                ///< for marked kernels: part of the file name
  const PassPlugins* plugins = nullptr; ///< for marked kernels
};

/// Returns the variant for a marked kernel that no file tunes.
tuned::Variant markedVariant(const MarkedDefaults& defaults, bool boundsIndices);

/// Returns the identity of a binary: a hash of the kernel's code, values, dimensions where they
/// matter, and how it is compiled.
uint64_t requestHash(const KernelCode& code, const compile::Request& request);

/// Whether the program has loaded units of a vendor (mneme_module_entry::vendor).
bool hasUnitOf(uint32_t vendor);

/// Returns the name of code compiled at run time in a program of that vendor
/// (mneme_module_entry::vendor), as debuggers, profilers and pass plugins see it.
std::string jitSymbol(const std::string& name, uint64_t hash, uint32_t vendor);

/// Makes the request that a replay of the same configuration makes, except for the places of
/// variables.
compile::Request makeRequest(const KernelCode& code, const tuned::Variant& variant,
                             const BinarySpec& spec);

} // namespace mneme::jit
