// Room jit: from a variant to what the compiler is asked for. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/service/client.h"
#include "runtime/jit/kernel_code.h"
#include "runtime/jit/pass_plugins.h"
#include "runtime/jit/settings.h"
#include "runtime/tuned/file.h"

namespace mneme::jit {

/// Indices of the arguments that `variant` makes constants of.
std::vector<uint32_t> specializedArgs(const tuned::Variant& variant, const embed::KernelBlob& blob);

/// Why a variant cannot serve this kernel: it names arguments that the kernel does not have, or
/// has in another size. Empty if it can.
std::string whyUnfit(const tuned::Variant& variant, const embed::KernelBlob& blob);

/// Why nothing vouches for other dimensions than the program's, whatever `variant.launch` says: the
/// kernel has code or arguments that Match does not speak of. Empty if something does.
std::string whyKeepsDims(const tuned::Variant& variant, const KernelCode& code);

/// Sets what only the kernel knows of the arguments of a variant that is fit for it.
void setKinds(tuned::Match& match, const embed::KernelBlob& blob);

/// What a binary is made for.
struct BinarySpec {
  std::string target;                                  ///< as Backend::target()
  tuned::Dims dims;                                    ///< that it is launched with
  std::vector<ArgValue> values = {};                   ///< of specializedArgs(), in that order
  std::vector<compile::LambdaValue> lambdaValues = {}; ///< as Kernel::lambdaValues()
  bool placesGlobals = false;                          ///< as Backend::needsPlacedGlobals()
  bool wantsIr = false;
  bool wantsTrace = false;
  std::string rank = {};                ///< of a marked kernel: in the name of its file
  const PassPlugins* plugins = nullptr; ///< of a marked kernel
};

/// The one way to compile a marked kernel that no file tunes.
tuned::Variant markedVariant(const MarkedDefaults& defaults, bool boundsIndices);

/// Identity of a binary, as far as its request says: of one kernel's code, values, dimensions where
/// they matter, and how it is compiled.
uint64_t requestHash(const KernelCode& code, const compile::Request& request);

/// Whether the program has loaded units of a vendor (mneme_module_entry::vendor).
bool hasUnitOf(uint32_t vendor);

/// Name of what is compiled at run time in a program of that vendor (mneme_module_entry::vendor),
/// as debuggers, profilers and pass plugins see it.
std::string jitSymbol(const std::string& name, uint64_t hash, uint32_t vendor);

/// The same request as a replay of the configuration makes, but for the places of variables.
compile::Request makeRequest(const KernelCode& code, const tuned::Variant& variant,
                             const BinarySpec& spec);

} // namespace mneme::jit
