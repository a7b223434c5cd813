// Room abi: the IR that a code object for an AMD GPU can carry, for those who run it where there is
// no such GPU: a stand-in for the driver in tests.
#pragma once

namespace mneme {

/// With "1" in this variable the compiler puts the optimised module, as bitcode, into every code
/// object it makes.
inline constexpr char kCarryIrVariable[] = "MNEME_CARRY_IR";

/// The section of the ELF file where it lies. It is not allocated: loaders leave it out.
inline constexpr char kCarriedIrSection[] = ".mneme.ir";

} // namespace mneme
