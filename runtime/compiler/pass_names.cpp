#include "runtime/compiler/pass_names.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/compiler/ir/unroll_pass.h"

namespace mneme::compile {
namespace {

constexpr llvm::StringLiteral kPassesEnd = " passes";
constexpr llvm::StringLiteral kParametersEnd = " passes with params";

/// The key of a heading such as "Module passes with params"; empty for those that list no passes
/// a pipeline can name (analyses, passes of code generation).
std::string keyOf(llvm::StringRef heading) {
  std::string suffix;
  if (heading.consume_back(kParametersEnd))
    suffix = "_with_params";
  else if (!heading.consume_back(kPassesEnd))
    return {};
  return heading.starts_with("Machine") ? std::string() : heading.lower() + suffix;
}

/// "name<params>" as ["name", "params"].
llvm::json::Array splitParameters(llvm::StringRef name) {
  auto [front, parameters] = name.split('<');
  parameters.consume_back(">");
  return llvm::json::Array{front, parameters};
}

/// The pipelines that are named like passes, which the lists of older releases leave out.
void addPipelines(llvm::json::Array& modulePasses) {
  for (const llvm::json::Value& pass : modulePasses)
    if (pass.getAsArray()->front() == llvm::json::Value("default"))
      return;
  for (const char* name : {"default", "thinlto-pre-link", "thinlto", "lto-pre-link", "lto"})
    modulePasses.push_back(llvm::json::Array{name, "O0;O1;O2;O3;Os;Oz"});
}

} // namespace

std::string passNames() {
  // LLVM prints its registries and offers no other way to read them: headings that end in a colon,
  // names behind two blanks.
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  llvm::PassBuilder builder;
  builder.printPassNames(stream);

  llvm::json::Object sections;
  std::string key;
  for (llvm::StringRef line : llvm::split(printed, '\n')) {
    const bool isName = line.consume_front("  ");
    if (!isName) {
      line.consume_back(":");
      key = keyOf(line);
      if (!key.empty())
        sections.try_emplace(key, llvm::json::Array());
    } else if (!key.empty()) {
      llvm::json::Array& names = *sections.getArray(key);
      if (llvm::StringRef(key).ends_with("_with_params"))
        names.push_back(splitParameters(line));
      else
        names.push_back(line);
    }
  }
  if (llvm::json::Array* modules = sections.getArray("module_with_params"))
    addPipelines(*modules);
  if (llvm::json::Array* functions = sections.getArray("function_with_params"))
    functions->push_back(llvm::json::Array{ir::kUnrollPass, "N"});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(sections));
  return text;
}

} // namespace mneme::compile
