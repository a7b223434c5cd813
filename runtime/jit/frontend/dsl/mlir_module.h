// Room jit/frontend: a module of MLIR as text.
#pragma once

#include "include/proteus/Frontend/MLIRCodeBuilder.h"
#include "runtime/jit/frontend/dsl/module_text.h"

#include <string>
#include <vector>

namespace proteus {

class MLIRModuleText final : public ModuleText {
public:
  using ModuleText::ModuleText;

  std::unique_ptr<CodeBuilder> makeBuilder(IRFunction function) override;
  std::string text() const override;

  void add(MLIRCodeBuilder* function);
  /// A variable of the module, with a name like `hint`; returns the name, without `@`.
  std::string addArray(const IRType& type, const std::string& hint);
  bool isForGpu() const { return isCuda() || isHip(); }

private:
  std::vector<std::string> functionLines(const MLIRCodeBuilder& function) const;
  std::string signature(const MLIRCodeBuilder& function) const;
  std::vector<std::string> declarations() const;

  std::vector<MLIRCodeBuilder*> builders_;
  std::vector<std::string> globals_;
};

} // namespace proteus
