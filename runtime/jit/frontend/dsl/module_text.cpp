#include "runtime/jit/frontend/dsl/module_text.h"

#include <algorithm>

namespace proteus {
namespace {

bool haveEqualKinds(const std::vector<IRType>& left, const std::vector<IRType>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const IRType& l, const IRType& r) { return l.Kind == r.Kind; });
}

} // namespace

CodeBuilder::~CodeBuilder() = default;
ModuleText::~ModuleText() = default;

std::string FunctionText::uniqueName(const std::string& hint) {
  const std::string wanted = hint.empty() ? "var" : hint;
  std::string name = wanted;
  while (!names.insert(name).second)
    name = wanted + std::to_string(++lastName);
  return name;
}

IRValue* FunctionText::value(std::string name, IRType type) {
  values.push_back({std::move(name), type});
  return &values.back();
}

void FunctionText::requireOpen() const {
  if (isEnded)
    builder->fail("Function " + function.Name + " is ended, no further code can be added");
}

void FunctionText::begin(const char* beginFile, unsigned beginLine) {
  if (isBegun)
    builder->fail("Function " + function.Name + " has been begun before");
  isBegun = true;
  file = beginFile;
  line = beginLine;
}

void FunctionText::requireResult(const IRValue* value) const {
  if (function.ReturnType.isVoid() != (value == nullptr))
    builder->fail("Function " + function.Name + (value ? " returns nothing" : " returns a value"));
}

void ModuleText::requireGpu(const CodeBuilder& builder) const {
  if (!isCuda() && !isHip())
    builder.fail("Threads and blocks are of GPUs, this module is for the host");
}

FunctionText* ModuleText::find(const std::string& name) const {
  for (FunctionText* function : functions_)
    if (function->originalName == name)
      return function;
  return nullptr;
}

bool ModuleText::isFree(const std::string& name) const {
  return !find(name) && arrays_.count(name) == 0;
}

std::string ModuleText::nameOfArray(const std::string& hint) {
  const std::string wanted = hint.empty() ? "array_var" : hint;
  std::string name = wanted;
  for (unsigned number = 1; !isFree(name); ++number)
    name = wanted + "." + std::to_string(number);
  arrays_.insert(name);
  return name;
}

void ModuleText::rename(const std::string& from, const std::string& to) {
  FunctionText& function = *find(from);
  function.originalName = function.function.Name = to;
}

void ModuleText::addSuffix(const std::string& suffix) {
  for (FunctionText* function : functions_)
    function->function.Name = function->originalName + suffix;
}

std::string ModuleText::withCallee(const std::string& line,
                                   std::string (*quoted)(const std::string&)) const {
  const size_t begin = line.find(kCallee);
  if (begin == std::string::npos)
    return line;
  const size_t end = line.find(kCallee, begin + 1);
  const std::string said = line.substr(begin + 1, end - begin - 1);
  const FunctionText* callee = find(said);
  return line.substr(0, begin) + quoted(callee ? callee->function.Name : said) +
         line.substr(end + 1);
}

void ModuleText::check() const {
  for (const FunctionText* function : functions_) {
    if (!function->isBegun)
      function->builder->fail("Function " + function->originalName + " has no code");
    if (!function->isEnded)
      reportFatalError("Function " + function->originalName + " is begun but not ended",
                       function->file, function->line);
  }
  for (const PendingCall& call : calls_) {
    const FunctionText* callee = find(call.callee);
    if (!callee)
      continue;
    const IRFunction& function = callee->function;
    if (function.IsKernel)
      reportFatalError("A kernel cannot be called: " + call.callee, call.file, call.line);
    if (function.ReturnType.Kind != call.result.Kind ||
        !haveEqualKinds(function.ArgTypes, call.arguments))
      reportFatalError("The call does not fit the signature of function " + call.callee, call.file,
                       call.line);
  }
}

void ModuleText::fail(const std::string& reason) const {
  for (const PendingCall& call : calls_)
    if (reason.find("'" + call.callee + "'") != std::string::npos)
      reportFatalError(reason, call.file, call.line);
  // Only instructions made one by one can be wrong in themselves.
  bool isBroken = false;
  for (const char* words : {"not valid LLVM IR", "not LLVM IR", ": error: "})
    isBroken |= reason.find(words) != std::string::npos;
  const std::string begin = isBroken ? "Broken module found, JIT compilation aborted! " : "";
  if (functions_.empty())
    reportFatalError(begin + reason);
  functions_.back()->builder->fail(begin + reason);
}

} // namespace proteus
