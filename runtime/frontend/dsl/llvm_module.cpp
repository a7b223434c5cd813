#include "runtime/frontend/dsl/llvm_module.h"

#include "runtime/frontend/dsl/llvm_builder_state.h"
#include "runtime/frontend/dsl/llvm_words.h"

#include "include/proteus/Frontend/LLVMTypeMap.h"

#include <algorithm>
#include <sstream>

namespace proteus {
namespace {

bool haveEqualKinds(const std::vector<IRType>& left, const std::vector<IRType>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const IRType& l, const IRType& r) { return l.Kind == r.Kind; });
}

std::string kernelLimits(const IRFunction& kernel, bool isHip) {
  if (kernel.MaxThreads <= 0)
    return "";
  const std::string threads = std::to_string(kernel.MaxThreads);
  const std::string blocks = std::to_string(kernel.MinBlocks);
  std::string limits = isHip ? " \"amdgpu-flat-work-group-size\"=\"1," + threads + "\""
                             : " \"nvvm.maxntid\"=\"" + threads + "\"";
  if (kernel.MinBlocks > 0)
    limits += std::string(isHip ? " \"amdgpu-waves-per-eu\"=\"" : " \"nvvm.minctasm\"=\"") +
              blocks + "\"";
  return limits;
}

} // namespace

LLVMCodeBuilder* LLVMModuleText::find(const std::string& name) const {
  for (LLVMCodeBuilder* function : functions_)
    if (function->Data->originalName == name)
      return function;
  return nullptr;
}

bool LLVMModuleText::isFree(const std::string& name) const {
  return !find(name) && arrays_.count(name) == 0;
}

std::string LLVMModuleText::addArray(const IRType& type, const std::string& hint) {
  std::string name = hint;
  for (unsigned number = 1; !isFree(name); ++number)
    name = hint + "." + std::to_string(number);
  arrays_.insert(name);
  globals_.push_back("@" + quotedName(name) + " = internal addrspace(" +
                     std::to_string(static_cast<unsigned>(type.AddrSpace)) + ") global " +
                     toLLVMType(type) + " undef, align " + std::to_string(alignmentOf(type)) +
                     "\n");
  return name;
}

void LLVMModuleText::rename(const std::string& from, const std::string& to) {
  auto& data = *find(from)->Data;
  data.originalName = data.function.Name = to;
}

void LLVMModuleText::addSuffix(const std::string& suffix) {
  for (LLVMCodeBuilder* function : functions_)
    function->Data->function.Name = function->Data->originalName + suffix;
}

void LLVMModuleText::declare(const std::string& name, const std::string& declaration) {
  declarations_.emplace(name, declaration);
}

unsigned LLVMModuleText::unrollNode(int count) {
  const auto first = static_cast<unsigned>(metadata_.size());
  auto reference = [first](unsigned offset) { return "!" + std::to_string(first + offset); };
  metadata_.push_back("distinct !{" + reference(0) + ", " + reference(1) +
                      (count > 0 ? ", " + reference(2) : "") + "}");
  metadata_.push_back("!{!\"llvm.loop.unroll.enable\"}");
  if (count > 0)
    metadata_.push_back("!{!\"llvm.loop.unroll.count\", i32 " + std::to_string(count) + "}");
  return first;
}

void LLVMModuleText::check() const {
  for (const LLVMCodeBuilder* function : functions_) {
    const auto& data = *function->Data;
    if (!data.isBegun)
      function->fail("Function " + data.originalName + " has no code");
    if (!data.isEnded)
      reportFatalError("Function " + data.originalName + " is begun but not ended", data.file,
                       data.line);
  }
  for (const PendingCall& call : calls_) {
    const LLVMCodeBuilder* callee = find(call.callee);
    if (!callee)
      continue;
    const IRFunction& function = callee->Data->function;
    if (function.IsKernel)
      reportFatalError("A kernel cannot be called: " + call.callee, call.file, call.line);
    if (function.ReturnType.Kind != call.result.Kind ||
        !haveEqualKinds(function.ArgTypes, call.arguments))
      reportFatalError("The call does not fit the signature of function " + call.callee, call.file,
                       call.line);
  }
}

void LLVMModuleText::fail(const std::string& reason) const {
  for (const PendingCall& call : calls_)
    if (reason.find("'" + call.callee + "'") != std::string::npos)
      reportFatalError(reason, call.file, call.line);
  // Only instructions made one by one can be wrong in themselves.
  const bool isBroken = reason.find("not valid LLVM IR") != std::string::npos ||
                        reason.find("not LLVM IR") != std::string::npos;
  const std::string begin = isBroken ? "Broken module found, JIT compilation aborted! " : "";
  if (functions_.empty())
    reportFatalError(begin + reason);
  functions_.back()->fail(begin + reason);
}

std::string LLVMModuleText::signature(const LLVMCodeBuilder& builder) const {
  const auto& data = *builder.Data;
  const IRFunction& function = data.function;
  std::string text = "define ";
  if (function.IsKernel)
    text += isHip() ? "amdgpu_kernel " : "ptx_kernel ";
  text += extension(function.ReturnType) + toLLVMType(function.ReturnType) + " @" +
          quotedName(function.Name) + "(";
  for (size_t i = 0; i < data.arguments.size(); ++i) {
    const IRValue& argument = *data.arguments[i];
    text += (i == 0 ? "" : ", ") + toLLVMType(argument.Type) + " " + extension(argument.Type) +
            argument.Name;
  }
  text += ")";
  // Exceptions of functions called pass through; threads of a GPU may have to arrive together.
  text += target_ == TargetModelType::HOST ? " uwtable" : " convergent";
  return text + kernelLimits(function, isHip());
}

std::string LLVMModuleText::functionText(const LLVMCodeBuilder& builder) const {
  const auto& data = *builder.Data;
  std::string text = "\n" + signature(builder) + " {\n";
  for (size_t i = 0; i < data.order.size(); ++i) {
    text += (i == 0 ? "" : "\n") + data.order[i]->name + ":\n";
    if (i == 0)
      for (const std::string& slot : data.slots)
        text += "  " + slot + "\n";
    for (const std::string& line : data.order[i]->lines) {
      const size_t begin = line.find(kCallee);
      if (begin == std::string::npos) {
        text += "  " + line + "\n";
        continue;
      }
      const size_t end = line.find(kCallee, begin + 1);
      const std::string said = line.substr(begin + 1, end - begin - 1);
      const LLVMCodeBuilder* callee = find(said);
      text += "  " + line.substr(0, begin) +
              quotedName(callee ? callee->Data->function.Name : said) + line.substr(end + 1) + "\n";
    }
  }
  return text + "}\n";
}

std::string LLVMModuleText::declarations() const {
  std::map<std::string, std::string> all = declarations_;
  for (const PendingCall& call : calls_) {
    if (find(call.callee))
      continue;
    std::string text = "declare " + extension(call.result) + toLLVMType(call.result) + " @" +
                       quotedName(call.callee) + "(";
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      text += (i == 0 ? "" : ", ") + toLLVMType(call.arguments[i]);
      const std::string extended = extension(call.arguments[i]);
      text += extended.empty() ? "" : " " + extended.substr(0, extended.size() - 1);
    }
    all.emplace(call.callee, text + ")");
  }
  std::string text;
  for (const auto& [name, declaration] : all)
    text += "\n" + declaration + "\n";
  return text;
}

std::string LLVMModuleText::text() const {
  std::ostringstream out;
  out << "; ModuleID = 'proteus.jit'\nsource_filename = \"proteus.jit\"\n";
  if (isCuda())
    out << "target triple = \"nvptx64-nvidia-cuda\"\n";
  if (isHip())
    out << "target triple = \"amdgcn-amd-amdhsa\"\n";
  if (!globals_.empty())
    out << "\n";
  for (const std::string& global : globals_)
    out << global;
  for (const LLVMCodeBuilder* function : functions_)
    out << functionText(*function);
  out << declarations();
  if (!metadata_.empty())
    out << "\n";
  for (size_t i = 0; i < metadata_.size(); ++i)
    out << "!" << i << " = " << metadata_[i] << "\n";
  return out.str();
}

} // namespace proteus
