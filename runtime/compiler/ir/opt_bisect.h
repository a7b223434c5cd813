// Room compiler/ir: `mneme-opt-bisect<INTERVALS>` in a pipeline, which runs only some of its
// optional passes, as LLVM's option -opt-bisect does, but for one compilation in place of a
// process.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace mneme::ir {

inline constexpr char kOptBisectPass[] = "mneme-opt-bisect";

/// What a pipeline with `mneme-opt-bisect` ran. Optional passes are numbered from 1 in the order in
/// which they would run; a pass that runs on ten functions has ten numbers.
struct PassRuns {
  bool isOn = false;  ///< whether the pipeline has `mneme-opt-bisect`
  uint64_t count = 0; ///< numbers given, of passes that ran and of those that did not
  uint64_t ran = 0;   ///< passes that ran
  std::string last;   ///< the last that ran, as "instcombine on function f"; "": none
  std::string next;   ///< the first behind it that did not run; "": none
};

/// Makes pipelines that `builder` parses know `mneme-opt-bisect<1-10;12>`: only the passes with
/// these numbers run, and those without which the pipeline does not work. <0> lets none run. It
/// holds for the whole pipeline, wherever among the module passes it stands.
/// \returns filled while the pipeline runs; the builder keeps it alive
std::shared_ptr<const PassRuns> registerOptBisect(llvm::PassBuilder& builder);

/// The rest of a pipeline that begins with `mneme-opt-bisect`; others as they are.
llvm::StringRef withoutOptBisect(llvm::StringRef passes);

} // namespace mneme::ir
