// Room emulator/lowering: kernels whose threads meet only at barriers of the whole block and in
// their warps, as loops instead of fibers. Internal to this folder.
//
// The barriers cut a kernel into phases. A *step* takes one thread from where it waits to its next
// barrier or to its end; a *round* lets every live thread take a step. In *uniform* kernels all
// live threads wait at the same barrier always, so each phase is a plain loop over the threads.
// Otherwise each thread's place is kept, and looked up where the threads are at different barriers.
//
// Where lanes of a warp meet (shuffles, votes), the kernel is cut, too. A round goes warp by warp
// then, and a warp takes steps until all its live lanes wait at a barrier of the block. Where a
// whole warp is at one place, its phase is a plain loop over the lanes. Which lanes may go on is
// decided by the device (emulator/executor/block_rounds.cpp), by the rules that hold for fibers.
#pragma once

#include <optional>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>

#include "runtime/emulator/lowering/steps.h"

namespace mneme::compile::cpu {

struct PhaseBarrier {
  llvm::CallInst* call = nullptr; ///< last but the branch to `after` in its block
  llvm::BasicBlock* after = nullptr;
  bool reduces = false;
  unsigned operation = 0;         ///< mneme_cpu_reduce
  bool isOfWarp = false;          ///< lanes meet: `call` is a meeting (meetings.h)
  bool hasFlag = false;           ///< and its flag is asked for
  mneme_cpu_meeting meeting = {}; ///< as the image describes it
};

/// Where the arguments that stand for special registers begin in the kernel's body: the context,
/// then three each of thread index, block index, block size, grid size.
struct PhaseArguments {
  unsigned context = 0;
  std::vector<llvm::Type*> writtenStructs; ///< by argument: a by-value struct the kernel changes
  unsigned thread(unsigned axis) const { return context + 1 + axis; }
  unsigned blockSize(unsigned axis) const { return context + 7 + axis; }
};

/// What all threads of a block agree on.
struct PhaseControl {
  bool isUniform = true;     ///< all live threads always wait at the same barrier
  bool hasEarlyExit = false; ///< some threads may end while others go on
  llvm::SmallPtrSet<const llvm::Value*, 32> divergent; ///< may differ between threads of a block
};
PhaseControl analyzeControl(llvm::Function& body, const PhaseArguments& arguments,
                            const std::vector<PhaseBarrier>& barriers);

/// Whether a load reads what nobody writes during a launch: the context, the launch, parameters.
bool readsLaunchConstant(const llvm::LoadInst& load, const llvm::Value* context);

/// The kernel's body as a function
///   {i32 next, i32 predicate, i32 arrival, uniforms...}
///   step(body's arguments..., i32 state, i32 count, i32 arrivals, ptr scratch, i64 thread,
///        i64 threads, uniforms...)
/// State 0 starts a thread; k > 0 continues it behind barrier k. `next` is 0 when it has ended.
/// `predicate` and `arrival` are 1 for a true predicate and for any at a barrier that reduces;
/// `count` and `arrivals` are their sums over the round before.
struct PhaseStep {
  llvm::Function* function = nullptr;
  unsigned barrierCount = 0;
  bool isUniform = false;
  bool isFree = false; ///< nobody asked for the barriers
  bool hasEarlyExit = false;
  bool reduces = false;
  unsigned firstExtra = 0;                       ///< index of the argument `state`
  std::vector<llvm::Type*> uniforms;             ///< values that are kept once for the block
  std::vector<std::vector<unsigned>> uniformsAt; ///< by state: which of them live there
  std::vector<unsigned> homes; ///< of free steps, by uniform: the only state it lives in
  // If lanes meet:
  std::vector<mneme_cpu_meeting> meetings; ///< of state 1 and so on
  std::vector<bool> hasFlag;               ///< of the same: somebody asks for the lanes' flags
  struct Phase {
    unsigned instructions = 0;        ///< that a thread may execute in a step
    std::optional<unsigned> onlyNext; ///< where the step leads, if that is one place
  };
  std::vector<Phase> phases; ///< by state
  uint64_t laneOffset = 0;   ///< as stateOffset: where the fields of lanes are
  uint64_t scratchBytes = 0; ///< per thread
  uint64_t stateOffset = 0;  ///< times the number of threads: where the threads' states are
};
/// Consumes `body`. Barriers of a free one came with cutStridedLoops: threads need not wait at
/// them for others, and a round lets only those take a step that are at the first one.
PhaseStep makeStep(llvm::Function& body, const PhaseArguments& arguments, bool isFree);

/// A function of the body's type that executes the whole block; `step` is inlined into it. `whole`,
/// if not null, is the body as it was without barriers: it is consumed, and used for narrow blocks.
llvm::Function* makeRounds(const PhaseStep& step, const PhaseArguments& arguments,
                           bool storesThreadIndex, llvm::Function* whole);

/// The same for a step with meetings of lanes.
llvm::Function* makeWarpRounds(const PhaseStep& step, const PhaseArguments& arguments,
                               bool storesThreadIndex, unsigned warpSize);

/// Puts barriers into loops where that lets neighbouring threads be computed together; false, and
/// nothing changed but empty blocks, if there are none. The body must have no barrier yet.
bool cutUniformLoops(llvm::Function& body, const PhaseArguments& arguments);
/// The same for loops that threads leave at different times, but about the same.
bool cutStridedLoops(llvm::Function& body, const PhaseArguments& arguments);
/// Metadata of a value that is the same in all threads that wait at one barrier of a free step, and
/// needed behind no other.
inline constexpr const char* kRoundMetadata = "mneme.round";

/// Whether all about `function` but its barriers suits phases.
bool canBeCut(llvm::Function& function);
/// Whether `kernel` has barriers or meetings of lanes and its threads meet nowhere else.
bool canRunInPhases(llvm::Module& module, llvm::Function& kernel);

} // namespace mneme::compile::cpu
