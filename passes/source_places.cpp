#include "passes/source_places.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "passes/device_module.h"

namespace mneme::passes {
namespace {

constexpr llvm::StringRef kCallOperator = "::operator()";

bool isWordLetter(char letter) { return llvm::isAlnum(letter) || letter == '_'; }

/// Returns the readable type whose call operator the function is; empty for other functions.
std::string calledType(llvm::StringRef readable) {
  const size_t at = readable.rfind(kCallOperator);
  if (at == llvm::StringRef::npos)
    return "";
  // A function template has its return type in front, which a type in brackets may hold, too.
  size_t begin = 0;
  int depth = 0;
  for (size_t index = 0; index < at; ++index) {
    const char letter = readable[index];
    if (letter == '<' || letter == '(' || letter == '{')
      ++depth;
    else if (letter == '>' || letter == ')' || letter == '}')
      --depth;
    else if (letter == ' ' && depth == 0 && !readable.substr(0, index).ends_with("operator"))
      begin = index + 1;
  }
  return readable.slice(begin, at).str();
}

/// Whether the template arguments in a readable name have the type.
bool namesInArguments(llvm::StringRef readable, llvm::StringRef type) {
  for (size_t at = readable.find(type); at != llvm::StringRef::npos;
       at = readable.find(type, at + 1)) {
    const size_t end = at + type.size();
    if ((at > 0 && (isWordLetter(readable[at - 1]) || readable[at - 1] == ':')) ||
        (end < readable.size() && (isWordLetter(readable[end]) || readable[end] == ':')))
      continue;
    const llvm::StringRef before = readable.take_front(at);
    if (before.count('<') > before.count('>'))
      return true;
  }
  return false;
}

/// Looks for the launcher's object in the functions that it calls.
class Search {
public:
  explicit Search(const llvm::Function& launcher)
      : name_(readableName(launcher.getName())),
        hasArguments_(name_.find('<') != std::string::npos) {}

  const llvm::Function* in(const llvm::Function& caller) {
    if (!hasArguments_ || !seen_.insert(&caller).second)
      return nullptr;
    for (const llvm::Instruction& instruction : llvm::instructions(caller)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->isDeclaration() || !callee->getSubprogram())
        continue;
      if (isObject(*callee))
        return callee;
      if (const llvm::Function* found = in(*callee))
        return found;
    }
    return nullptr;
  }

private:
  bool isObject(const llvm::Function& callee) const {
    const llvm::StringRef mangled = callee.getName();
    if (!mangled.contains("clE") && !mangled.contains("clI"))
      return false;
    const std::string type = calledType(readableName(mangled));
    return !type.empty() && namesInArguments(name_, type);
  }

  std::string name_;
  bool hasArguments_;
  llvm::SmallPtrSet<const llvm::Function*, 16> seen_;
};

const llvm::Function& bodyOf(const llvm::Function& kernel) {
  llvm::SmallPtrSet<const llvm::Function*, 8> visited;
  const llvm::Function* body = &kernel;
  while (visited.insert(body).second) {
    const llvm::Function* next = Search(*body).in(*body);
    if (!next || visited.contains(next))
      break;
    body = next;
  }
  return *body;
}

uint32_t lastLineOf(const llvm::Function& function, const llvm::DISubprogram& source) {
  uint32_t last = std::max(source.getLine(), source.getScopeLine());
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const llvm::DILocation* location = instruction.getDebugLoc();
        location && location->getScope()->getSubprogram() == &source &&
        location->getFile() == source.getFile())
      last = std::max(last, location->getLine());
  return last;
}

} // namespace

std::optional<SourcePlace> placeOf(const llvm::Function& kernel) {
  if (!kernel.getSubprogram())
    return std::nullopt;
  const llvm::Function& body = bodyOf(kernel);
  const llvm::DISubprogram& source = *body.getSubprogram();
  return SourcePlace{source.getFilename().str(), source.getLine(), lastLineOf(body, source)};
}

} // namespace mneme::passes
