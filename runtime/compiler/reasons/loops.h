// Room compiler: the loops of final IR, how often they run and what one pass of them does.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
namespace json {
class Array;
} // namespace json
} // namespace llvm

namespace mneme::compile {

/// [{"function" (mangled), "file", "line" (of the source; "" and 0: not known), "depth" (1: in no
/// other loop), "is_innermost", "is_vectorized", "trip_count", "max_trip_count" (0: no constant),
/// "trip_multiple", "backedges" (how often it goes round but for the last time, as ScalarEvolution
/// writes it; "": not known), and of the code in it but in no loop of it, each instruction once:
/// "instructions", "branches", "calls", "loads", "stores", "atomics", "load_bytes", "store_bytes",
/// "shared_bytes" (loads and stores), "local_bytes", "flops" (a fused multiplication and addition
/// is two)}], from outer to inner. Bytes of shared memory and local variables count there only.
llvm::json::Array describeLoops(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace mneme::compile
