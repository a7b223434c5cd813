// Room compiler: why a compilation gives the code it gives, gathered where somebody asks.
#pragma once

#include <memory>
#include <string>

#include "runtime/compiler/reasons/pass_times.h"
#include "runtime/compiler/reasons/remarks.h"

namespace llvm {
class Module;
class TargetMachine;
namespace json {
class Object;
} // namespace json
} // namespace llvm

namespace mneme::compile {

/// What one compilation tells about itself. Nothing of it changes the code.
class Reasons {
public:
  /// LLVM's statistics count for the whole process from here on, where LLVM was built to count.
  Reasons();
  ~Reasons();

  Remarks& remarks() { return remarks_; }
  /// Makes `builder` measure the passes it runs.
  void watch(llvm::PassBuilder& builder) { passes_ = registerPassTimes(builder); }
  /// Keeps what final IR says about its loops.
  void describe(llvm::Module& module, llvm::TargetMachine& machine);
  /// {"remarks": [...], "remarks_left_out", "passes": [...], "loops": [...], "statistics": {"pass.
  /// name": n} or null where LLVM does not count}; see the headers of this folder.
  llvm::json::Object json() const;

private:
  Remarks remarks_;
  std::shared_ptr<const PassTimes> passes_;
  std::unique_ptr<llvm::json::Object> described_;
};

} // namespace mneme::compile
