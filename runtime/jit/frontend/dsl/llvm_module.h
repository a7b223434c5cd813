// Room jit/frontend: a module of LLVM IR as text.
#pragma once

#include "include/proteus/Frontend/LLVMCodeBuilder.h"
#include "runtime/jit/frontend/dsl/module_text.h"

#include <map>
#include <string>
#include <vector>

namespace proteus {

class LLVMModuleText final : public ModuleText {
public:
  using ModuleText::ModuleText;

  std::unique_ptr<CodeBuilder> makeBuilder(IRFunction function) override;
  std::string text() const override;

  void add(LLVMCodeBuilder* function);
  /// A variable of the module, with a name like `hint`; returns the name, without `@`.
  std::string addArray(const IRType& type, const std::string& hint);
  /// Once per name.
  void declare(const std::string& name, const std::string& declaration);
  /// The metadata node of a loop to unroll; see CodeBuilder::endFor.
  unsigned unrollNode(int count);

private:
  std::string functionText(const LLVMCodeBuilder& function) const;
  std::string signature(const LLVMCodeBuilder& function) const;
  std::string declarations() const;

  std::vector<LLVMCodeBuilder*> builders_;
  std::vector<std::string> globals_;
  std::map<std::string, std::string> declarations_;
  std::vector<std::string> metadata_;
};

} // namespace proteus
