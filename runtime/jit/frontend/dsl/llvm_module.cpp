#include "runtime/jit/frontend/dsl/llvm_module.h"

#include "runtime/jit/frontend/dsl/llvm_builder_state.h"
#include "runtime/jit/frontend/dsl/llvm_words.h"

#include "include/proteus/Frontend/LLVMTypeMap.h"

#include <sstream>
#include <utility>

namespace proteus {
namespace {

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

std::unique_ptr<CodeBuilder> LLVMModuleText::makeBuilder(IRFunction function) {
  return std::make_unique<LLVMCodeBuilder>(*this, std::move(function));
}

void LLVMModuleText::add(LLVMCodeBuilder* function) {
  builders_.push_back(function);
  addFunction(function->Data.get());
}

std::string LLVMModuleText::addArray(const IRType& type, const std::string& hint) {
  std::string name = nameOfArray(hint);
  globals_.push_back("@" + quotedName(name) + " = internal addrspace(" +
                     std::to_string(static_cast<unsigned>(type.AddrSpace)) + ") global " +
                     toLLVMType(type) + " undef, align " + std::to_string(alignmentOf(type)) +
                     "\n");
  return name;
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
  text += target() == TargetModelType::HOST ? " uwtable" : " convergent";
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
    for (const std::string& line : data.order[i]->lines)
      text += "  " + withCallee(line, quotedName) + "\n";
  }
  return text + "}\n";
}

std::string LLVMModuleText::declarations() const {
  std::map<std::string, std::string> all = declarations_;
  for (const PendingCall& call : calls()) {
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
  for (const LLVMCodeBuilder* function : builders_)
    out << functionText(*function);
  out << declarations();
  if (!metadata_.empty())
    out << "\n";
  for (size_t i = 0; i < metadata_.size(); ++i)
    out << "!" << i << " = " << metadata_[i] << "\n";
  return out.str();
}

} // namespace proteus
