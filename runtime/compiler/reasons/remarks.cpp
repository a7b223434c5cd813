#include "runtime/compiler/reasons/remarks.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/Support/JSON.h>

#include <utility>

namespace mneme::compile {
namespace {

constexpr size_t kMostRemarks = 4000;
constexpr size_t kLongestMessage = 2000;

const char* kindOf(const llvm::DiagnosticInfoOptimizationBase& remark) {
  if (remark.getKind() == llvm::DK_OptimizationFailure)
    return "failure";
  return remark.isPassed() ? "passed" : remark.isMissed() ? "missed" : "analysis";
}

/// Names of values and types may hold any bytes.
std::string text(llvm::StringRef bytes) {
  return llvm::json::fixUTF8(bytes.take_front(kLongestMessage));
}

} // namespace

Remarks::Listening::Listening(Remarks* remarks) : remarks_(remarks) {
  if (remarks_)
    remarks_->isListening_ = true;
}

Remarks::Listening::~Listening() {
  if (remarks_)
    remarks_->isListening_ = false;
}

// How many instructions each run of each pass adds is counted by LLVM for itself, and at a price.
bool Remarks::isWanted(llvm::StringRef pass) const { return isListening_ && pass != "size-info"; }

void Remarks::add(const llvm::DiagnosticInfo& info) {
  const auto* remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info);
  if (!remark || !isWanted(remark->getPassName()))
    return;
  llvm::StringRef file;
  unsigned line = 0, column = 0;
  if (remark->isLocationAvailable())
    remark->getLocation(file, line, column);
  Key key(text(file), line, column, text(remark->getFunction().getName()),
          text(remark->getPassName()), text(remark->getRemarkName()), kindOf(*remark),
          text(remark->getMsg()));
  if (const auto known = counts_.find(key); known != counts_.end())
    ++known->second;
  else if (counts_.size() < kMostRemarks)
    counts_.emplace(std::move(key), 1);
  else
    ++leftOut_;
}

llvm::json::Array Remarks::json() const {
  llvm::json::Array told;
  for (const auto& [key, count] : counts_) {
    const auto& [file, line, column, function, pass, name, kind, message] = key;
    told.push_back(llvm::json::Object{{"kind", kind},
                                      {"pass", pass},
                                      {"name", name},
                                      {"function", function},
                                      {"file", file},
                                      {"line", line},
                                      {"column", column},
                                      {"message", message},
                                      {"count", count}});
  }
  return told;
}

} // namespace mneme::compile
