#include "runtime/compiler/reasons/reasons.h"

#include <llvm/ADT/Statistic.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/compiler/reasons/loops.h"

namespace mneme::compile {
namespace {

/// What LLVM counted, without the times it adds; null: it was built not to count.
llvm::json::Value statistics() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::PrintStatisticsJSON(stream);
  stream.flush();
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return nullptr;
  }
  llvm::json::Object told;
  if (const llvm::json::Object* counted = parsed->getAsObject())
    for (const auto& [name, value] : *counted)
      if (!llvm::StringRef(name).starts_with("time."))
        told[name] = value;
  return told.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(std::move(told));
}

} // namespace

Reasons::Reasons() : described_(std::make_unique<llvm::json::Object>()) {
  llvm::EnableStatistics(/*DoPrintOnExit=*/false);
  llvm::ResetStatistics();
}

Reasons::~Reasons() = default;

void Reasons::describe(llvm::Module& module, llvm::TargetMachine& machine) {
  (*described_)["loops"] = describeLoops(module, machine);
}

llvm::json::Object Reasons::json() const {
  llvm::json::Object told = *described_;
  told["remarks"] = remarks_.json();
  told["remarks_left_out"] = static_cast<int64_t>(remarks_.leftOut());
  if (passes_)
    told["passes"] = toJson(*passes_);
  told["statistics"] = statistics();
  return told;
}

} // namespace mneme::compile
