#include "runtime/compiler/ir/opt_bisect.h"

#include <llvm/ADT/Any.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LazyCallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>

#include <optional>
#include <utility>
#include <vector>

namespace mneme::ir {
namespace {

using Interval = std::pair<uint64_t, uint64_t>; // both ends belong to it

struct Gate {
  std::vector<Interval> intervals;
  PassRuns runs;
};

std::optional<Interval> intervalIn(llvm::StringRef text) {
  const auto [first, last] = text.split('-');
  Interval interval;
  if (first.getAsInteger(10, interval.first))
    return std::nullopt;
  interval.second = interval.first;
  if (text.contains('-') && last.getAsInteger(10, interval.second))
    return std::nullopt;
  return interval.first <= interval.second ? std::optional(interval) : std::nullopt;
}

std::optional<std::vector<Interval>> intervalsIn(llvm::StringRef name) {
  if (!name.consume_front(kOptBisectPass) || !name.consume_front("<") || !name.consume_back(">"))
    return std::nullopt;
  std::vector<Interval> intervals;
  for (llvm::StringRef part : llvm::split(name, ';')) {
    const std::optional<Interval> interval = intervalIn(part);
    if (!interval)
      return std::nullopt;
    intervals.push_back(*interval);
  }
  return intervals;
}

std::string described(const llvm::Any& ir) {
  if (const auto* function = llvm::any_cast<const llvm::Function*>(&ir))
    return " on function " + (*function)->getName().str();
  if (const auto* loop = llvm::any_cast<const llvm::Loop*>(&ir))
    return " on loop " + (*loop)->getName().str() + " of function " +
           (*loop)->getHeader()->getParent()->getName().str();
  if (const auto* component = llvm::any_cast<const llvm::LazyCallGraph::SCC*>(&ir))
    return " on functions " + (*component)->getName();
  return " on the module";
}

bool admits(Gate& gate, llvm::PassInstrumentationCallbacks& callbacks, llvm::StringRef pass,
            const llvm::Any& ir) {
  const uint64_t number = ++gate.runs.count;
  const bool isAdmitted = llvm::any_of(gate.intervals, [&](const Interval& interval) {
    return interval.first <= number && number <= interval.second;
  });
  const llvm::StringRef name = callbacks.getPassNameForClassName(pass);
  const std::string run = (name.empty() ? pass : name).str() + described(ir);
  if (isAdmitted) {
    ++gate.runs.ran;
    gate.runs.last = run;
    gate.runs.next.clear();
  } else if (gate.runs.next.empty()) {
    gate.runs.next = run;
  }
  return isAdmitted;
}

} // namespace

std::shared_ptr<const PassRuns> registerOptBisect(llvm::PassBuilder& builder) {
  const auto gate = std::make_shared<Gate>();
  llvm::PassInstrumentationCallbacks* callbacks = builder.getPassInstrumentationCallbacks();
  builder.registerPipelineParsingCallback(
      [gate, callbacks](llvm::StringRef name, llvm::ModulePassManager&,
                        llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
        std::optional<std::vector<Interval>> intervals = intervalsIn(name);
        if (!intervals)
          return false;
        gate->intervals = *std::move(intervals);
        // A text is parsed more than once; a builder without callbacks only checks it.
        if (callbacks && !std::exchange(gate->runs.isOn, true))
          callbacks->registerShouldRunOptionalPassCallback(
              [gate, callbacks](llvm::StringRef pass, llvm::Any ir) {
                return admits(*gate, *callbacks, pass, ir);
              });
        return true;
      });
  return {gate, &gate->runs};
}

llvm::StringRef withoutOptBisect(llvm::StringRef passes) {
  if (!passes.starts_with(kOptBisectPass))
    return passes;
  const auto [first, rest] = passes.split(',');
  return rest;
}

} // namespace mneme::ir
