#include "runtime/compiler/reasons/pass_times.h"

#include <llvm/ADT/Any.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/JSON.h>

#include <chrono>
#include <vector>

namespace mneme::compile {
namespace {

using Clock = std::chrono::steady_clock;

/// A pass or analysis that has begun.
struct Frame {
  std::string name;
  Clock::time_point start;
  double nestedSeconds = 0; ///< of what began and ended since
};

class Watch {
public:
  explicit Watch(llvm::PassInstrumentationCallbacks& callbacks) : callbacks_(callbacks) {}

  void begin(llvm::StringRef pass) {
    if (!isManager(pass))
      frames_.push_back({nameOf(pass), Clock::now()});
  }

  void end(llvm::StringRef pass, bool hasChanged, bool isAnalysis) {
    if (isManager(pass) || frames_.empty())
      return;
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const double seconds = std::chrono::duration<double>(Clock::now() - frame.start).count();
    if (!frames_.empty())
      frames_.back().nestedSeconds += seconds;
    PassTime& time = times[frame.name];
    ++time.runs;
    time.changes += hasChanged;
    time.seconds += seconds - frame.nestedSeconds;
    time.isAnalysis = isAnalysis;
  }

  PassTimes times;

private:
  /// What only runs other passes.
  static bool isManager(llvm::StringRef pass) {
    return llvm::isSpecialPass(pass, {"PassManager", "PassAdaptor", "AnalysisManagerProxy",
                                      "DevirtSCCRepeatedPass", "ModuleInlinerWrapperPass",
                                      "RequireAnalysisPass", "InvalidateAnalysisPass"});
  }

  std::string nameOf(llvm::StringRef pass) const {
    const llvm::StringRef name = callbacks_.getPassNameForClassName(pass);
    return (name.empty() ? pass : name).str();
  }

  llvm::PassInstrumentationCallbacks& callbacks_;
  std::vector<Frame> frames_;
};

} // namespace

std::shared_ptr<const PassTimes> registerPassTimes(llvm::PassBuilder& builder) {
  llvm::PassInstrumentationCallbacks* callbacks = builder.getPassInstrumentationCallbacks();
  const auto watch = std::make_shared<Watch>(*callbacks);
  callbacks->registerBeforeNonSkippedPassCallback(
      [watch](llvm::StringRef pass, llvm::Any) { watch->begin(pass); });
  callbacks->registerAfterPassCallback(
      [watch](llvm::StringRef pass, llvm::Any, const llvm::PreservedAnalyses& kept) {
        watch->end(pass, !kept.areAllPreserved(), /*isAnalysis=*/false);
      });
  callbacks->registerAfterPassInvalidatedCallback(
      [watch](llvm::StringRef pass, const llvm::PreservedAnalyses& kept) {
        watch->end(pass, !kept.areAllPreserved(), /*isAnalysis=*/false);
      });
  callbacks->registerBeforeAnalysisCallback(
      [watch](llvm::StringRef pass, llvm::Any) { watch->begin(pass); });
  callbacks->registerAfterAnalysisCallback([watch](llvm::StringRef pass, llvm::Any) {
    watch->end(pass, /*hasChanged=*/false, /*isAnalysis=*/true);
  });
  return {watch, &watch->times};
}

llvm::json::Array toJson(const PassTimes& times) {
  llvm::json::Array told;
  for (const auto& [name, time] : times)
    told.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(name)},
                                      {"runs", time.runs},
                                      {"changes", time.changes},
                                      {"seconds", time.seconds},
                                      {"is_analysis", time.isAnalysis}});
  return told;
}

} // namespace mneme::compile
