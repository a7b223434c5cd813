#include "passes/unrecorded_reads.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <set>

#include "runtime/core/abi/read_words.h"

namespace mneme::passes {
namespace {

using Reads = std::set<std::string>;

struct Sign {
  const char* begin; ///< what names of such registers or instructions begin with
  const char* read;
};

constexpr const char* kClocks = "clocks";
constexpr const char* kMultiprocessors = "multiprocessor numbers";
constexpr const char* kTextures = "textures";
constexpr const char* kSurfaces = "surfaces";
using read_words::kHeap, read_words::kLaunches, read_words::kConditions;

// Special registers of PTX, after `%` in assembly and after `llvm.nvvm.read.ptx.sreg.` in IR.
constexpr Sign kRegisters[] = {{"clock", kClocks},
                               {"globaltimer", kClocks},
                               {"smid", kMultiprocessors},
                               {"nsmid", kMultiprocessors},
                               {"warpid", "warp slots"},
                               {"nwarpid", "warp slots"},
                               {"gridid", "grid numbers"},
                               {"envreg", "environment registers"},
                               {"pm", "performance counters"}};

// Instructions of PTX, up to their first dot, and of AMD GPUs.
constexpr Sign kInstructions[] = {{"tex", kTextures},
                                  {"tld4", kTextures},
                                  {"txq", kTextures},
                                  {"suld", kSurfaces},
                                  {"sust", kSurfaces},
                                  {"sured", kSurfaces},
                                  {"suq", kSurfaces},
                                  {"image_", kTextures},
                                  {"s_memtime", kClocks},
                                  {"s_memrealtime", kClocks},
                                  {"HW_REG_SHADER_CYCLES", kClocks},
                                  {"HW_REG_HW_ID", kMultiprocessors},
                                  {"HW_REG_XCC_ID", kMultiprocessors}};

// Intrinsics behind `llvm.`, and functions of ROCm's device library.
constexpr Sign kFunctions[] = {{"llvm.nvvm.tex.", kTextures},
                               {"llvm.nvvm.tld4.", kTextures},
                               {"llvm.nvvm.txq.", kTextures},
                               {"llvm.nvvm.suld.", kSurfaces},
                               {"llvm.nvvm.sust.", kSurfaces},
                               {"llvm.nvvm.suq.", kSurfaces},
                               {"llvm.amdgcn.image.", kTextures},
                               {"llvm.amdgcn.s.memtime", kClocks},
                               {"llvm.amdgcn.s.memrealtime", kClocks},
                               {"llvm.readcyclecounter", kClocks},
                               {"llvm.readsteadycounter", kClocks},
                               {"__ockl_image_", kTextures},
                               {"__ockl_steadyctr_u64", kClocks},
                               {"__ockl_memrealtime_u64", kClocks},
                               {"__ockl_memtime_u64", kClocks},
                               {"__cudaCDP2LaunchDevice", kLaunches},
                               {"cudaLaunchDevice", kLaunches},
                               {"cudaGraphSetConditional", kConditions},
                               {"__ockl_dm_alloc", kHeap},
                               {"__ockl_dm_dealloc", kHeap}};

template <size_t Count> const char* find(const Sign (&signs)[Count], llvm::StringRef name) {
  for (const Sign& sign : signs)
    if (name.starts_with(sign.begin))
      return sign.read;
  return nullptr;
}

/// Returns what a register reads; null for registers such as "%p1", which is not "%pm1".
const char* registerRead(llvm::StringRef name) {
  if (name.starts_with("pm") && (name.size() < 3 || !llvm::isDigit(name[2])))
    return nullptr;
  if (read_words::isGridBarrier(name))
    return nullptr;
  return find(kRegisters, name);
}

bool isWordCharacter(char character) { return llvm::isAlnum(character) || character == '_'; }

/// Returns whether the mnemonic is complete: in PTX, modifiers may follow after a dot.
bool endsMnemonic(llvm::StringRef sign, llvm::StringRef behind) {
  return sign.ends_with("_") || llvm::isUpper(sign.front()) || sign.starts_with("s_") ||
         behind.starts_with(".");
}

void noteAssembly(llvm::StringRef text, Reads& reads) {
  for (size_t at = 0; at < text.size(); ++at) {
    const llvm::StringRef rest = text.substr(at);
    if (rest.front() == '%')
      if (const char* read = registerRead(rest.drop_front()))
        reads.insert(read);
    if (at > 0 && (isWordCharacter(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '%'))
      continue;
    for (const Sign& sign : kInstructions)
      if (rest.starts_with(sign.begin) &&
          endsMnemonic(sign.begin, rest.drop_front(llvm::StringRef(sign.begin).size())))
        reads.insert(sign.read);
  }
}

/// s_getreg reads some registers that are about the wave's place in the machine, and others that
/// the code has set.
void noteHardwareRegister(const llvm::CallBase& call, Reads& reads) {
  const auto* encoded = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  constexpr unsigned kHwId = 4, kXccId = 20, kHwId1 = 23, kHwId2 = 24, kShaderCycles = 29;
  const unsigned id = encoded ? encoded->getZExtValue() & 0x3f : kHwId;
  if (id == kShaderCycles)
    reads.insert(kClocks);
  else if (id == kHwId || id == kXccId || id == kHwId1 || id == kHwId2)
    reads.insert(kMultiprocessors);
}

/// Notes a read of the clock if the message asks for the time; other answered messages do not.
void noteMessage(const llvm::CallBase& call, Reads& reads) {
  constexpr unsigned kGetRealTime = 0x83;
  const auto* message = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  if (message && message->getZExtValue() == kGetRealTime)
    reads.insert(kClocks);
}

void noteCall(const llvm::CallBase& call, Reads& reads) {
  if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    noteAssembly(assembly->getAsmString(), reads);
    return;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee)
    return;
  llvm::StringRef name = callee->getName();
  if (name == "malloc" || name == "free")
    reads.insert(kHeap);
  else if (name == "llvm.amdgcn.s.getreg")
    noteHardwareRegister(call, reads);
  else if (name.starts_with("llvm.amdgcn.s.sendmsg.rtn"))
    noteMessage(call, reads);
  else if (const char* read = name.consume_front("llvm.nvvm.read.ptx.sreg.")
                                  ? registerRead(name)
                                  : find(kFunctions, name))
    reads.insert(read);
}

} // namespace

std::vector<std::string> unrecordedReads(const llvm::Module& module) {
  Reads reads;
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        noteCall(*call, reads);
  return {reads.begin(), reads.end()};
}

} // namespace mneme::passes
