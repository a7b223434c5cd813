// Where memory lies.
#pragma once

namespace proteus {

/// The numbers are LLVM's for GPUs.
enum class AddressSpace : unsigned { DEFAULT = 0, GLOBAL = 1, SHARED = 3, CONSTANT = 4, LOCAL = 5 };

} // namespace proteus
