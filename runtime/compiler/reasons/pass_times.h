// Room compiler: how long each pass of a pipeline takes, and which ones change the code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace llvm {
class PassBuilder;
namespace json {
class Array;
} // namespace json
} // namespace llvm

namespace mneme::compile {

struct PassTime {
  int64_t runs = 0;
  int64_t changes = 0; ///< runs after which the pass says that the code is another
  double seconds = 0;  ///< without what it asked of analyses
  bool isAnalysis = false;
};

/// By the name that pipelines give a pass.
using PassTimes = std::map<std::string, PassTime>;

/// Measures the passes that a builder's pipelines run; the builder keeps the numbers alive.
std::shared_ptr<const PassTimes> registerPassTimes(llvm::PassBuilder& builder);

/// [{"name", "runs", "changes", "seconds", "is_analysis"}], by name.
llvm::json::Array toJson(const PassTimes& times);

} // namespace mneme::compile
