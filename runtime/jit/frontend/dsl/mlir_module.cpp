#include "runtime/jit/frontend/dsl/mlir_module.h"

#include "runtime/jit/frontend/dsl/mlir_builder_state.h"
#include "runtime/jit/frontend/dsl/mlir_words.h"

#include <map>

namespace proteus {
namespace {

std::string kernelLimits(const IRFunction& kernel, bool isHip) {
  if (kernel.MaxThreads <= 0)
    return "";
  const std::string threads = std::to_string(kernel.MaxThreads);
  const std::string blocks = std::to_string(kernel.MinBlocks);
  std::string limits = isHip ? "rocdl.flat_work_group_size = \"1," + threads + "\""
                             : "nvvm.maxntid = array<i32: " + threads + ">";
  if (kernel.MinBlocks > 0)
    limits += (isHip ? ", rocdl.waves_per_eu = " : ", nvvm.minctasm = ") + blocks + " : i32";
  return " attributes {" + limits + "}";
}

std::string result(const IRType& type) {
  if (type.isVoid())
    return "";
  const std::string extended = mlirExtension(type);
  return " -> " + (extended.empty() ? mlirType(type) : "(" + mlirType(type) + extended + ")");
}

} // namespace

std::unique_ptr<CodeBuilder> MLIRModuleText::makeBuilder(IRFunction function) {
  return std::make_unique<MLIRCodeBuilder>(*this, std::move(function));
}

void MLIRModuleText::add(MLIRCodeBuilder* function) {
  builders_.push_back(function);
  addFunction(function->Data.get());
}

std::string MLIRModuleText::addArray(const IRType& type, const std::string& hint) {
  std::string name = nameOfArray(hint);
  globals_.push_back("llvm.mlir.global internal @" + mlirSymbol(name) +
                     "() {addr_space = " + std::to_string(static_cast<unsigned>(type.AddrSpace)) +
                     " : i32} : " + mlirType(type));
  return name;
}

std::string MLIRModuleText::signature(const MLIRCodeBuilder& builder) const {
  const auto& data = *builder.Data;
  const IRFunction& function = data.function;
  // Functions of a GPU are for its kernels alone.
  std::string text = function.IsKernel ? "gpu.func @"
                     : isForGpu()      ? "func.func private @"
                                       : "func.func @";
  text += mlirSymbol(function.Name) + "(";
  for (const IRValue* argument : data.arguments)
    text += (argument == data.arguments.front() ? "" : ", ") + argument->Name + ": " +
            mlirType(argument->Type) +
            (function.IsKernel ? std::string() : mlirExtension(argument->Type));
  text += ")" + result(function.ReturnType);
  if (function.IsKernel)
    return text + " kernel" + kernelLimits(function, isHip()) + " {";
  // Threads of a GPU may have to arrive together.
  return text + (isForGpu() ? " attributes {passthrough = [\"convergent\"]} {" : " {");
}

std::vector<std::string> MLIRModuleText::functionLines(const MLIRCodeBuilder& builder) const {
  const auto& data = *builder.Data;
  std::vector<std::string> lines = {signature(builder)};
  for (const auto* part : {&data.constants, &data.slots})
    for (const std::string& line : *part)
      lines.push_back("  " + line);
  if (data.returned)
    lines.push_back("  memref.store " + data.knownConstants.at("arith.constant false")->Name +
                    ", " + data.returned->Name + "[] : " + data.slotTypes.at(data.returned->Name));
  // While it is written, what is open is shown as far as it goes.
  for (const auto& region : data.regions)
    for (const std::string& line : region.lines)
      lines.push_back("  " + withCallee(line, mlirSymbol));
  lines.emplace_back("}");
  return lines;
}

std::vector<std::string> MLIRModuleText::declarations() const {
  std::map<std::string, std::string> all;
  for (const PendingCall& call : calls()) {
    if (find(call.callee))
      continue;
    std::string text = "func.func private @" + mlirSymbol(call.callee) + "(";
    for (size_t i = 0; i < call.arguments.size(); ++i)
      text += (i == 0 ? "" : ", ") + mlirType(call.arguments[i]) + mlirExtension(call.arguments[i]);
    all.emplace(call.callee, text + ")" + result(call.result));
  }
  std::vector<std::string> lines;
  for (const auto& [name, declaration] : all)
    lines.push_back(declaration);
  return lines;
}

std::string MLIRModuleText::text() const {
  std::vector<std::string> lines = globals_;
  for (const std::string& line : declarations())
    lines.push_back(line);
  // What kernels call stands before them.
  for (const bool isKernel : {false, true})
    for (const MLIRCodeBuilder* function : builders_)
      if (function->Data->function.IsKernel == isKernel)
        for (const std::string& line : functionLines(*function))
          lines.push_back(line);
  std::string text = isForGpu()
                         ? "module attributes {gpu.container_module} {\n  gpu.module @kernels {\n"
                         : "module {\n";
  const std::string indent(isForGpu() ? 4 : 2, ' ');
  for (const std::string& line : lines)
    text += indent + line + "\n";
  return text + (isForGpu() ? "  }\n}\n" : "}\n");
}

} // namespace proteus
