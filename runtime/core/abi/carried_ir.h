// Room core/abi: the IR that a code object for an AMD GPU can contain, to run it without such a
// GPU: on a stand-in for the driver in tests.
#pragma once

namespace mneme {

/// With "1" in this variable the compiler puts the optimised module, as bitcode, into every code
/// object it makes.
inline constexpr char kCarryIrVariable[] = "MNEME_CARRY_IR";

/// Its section in the ELF file. It is not allocated, so loaders ignore it.
inline constexpr char kCarriedIrSection[] = ".mneme.ir";

} // namespace mneme
