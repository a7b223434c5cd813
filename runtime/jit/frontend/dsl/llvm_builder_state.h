// Room jit/frontend: a function of LLVM IR while it is written.
#pragma once

#include "include/proteus/Frontend/LLVMCodeBuilder.h"
#include "runtime/jit/frontend/dsl/module_text.h"

#include <deque>
#include <string>
#include <vector>

namespace proteus {

struct Block {
  std::string name;
  std::vector<std::string> lines;
  bool isClosed = false;  ///< ends with a branch or return
  bool isReached = false; ///< something that runs leads here
};

struct LLVMCodeBuilder::Scope : OpenScope {
  Block* next = nullptr;  ///< behind it
  Block* again = nullptr; ///< of loops: where the condition is
  // For:
  IRType type;
  IRValue* slot = nullptr;
  IRValue* step = nullptr;
};

struct LLVMCodeBuilder::State : FunctionText {
  State(LLVMModuleText& module, IRFunction function)
      : FunctionText(std::move(function)), module(module) {}

  /// As an instruction refers to it.
  std::string newName(const std::string& hint);
  Block* newBlock(const std::string& hint);
  /// What is written next belongs to `block`.
  void place(Block* block);
  /// Where an instruction goes: after a return, to a block that is never reached.
  Block& open();
  void branch(Block* target, const std::string& suffix = "");
  void branchIf(const IRValue& condition, Block* yes, Block* no);

  LLVMModuleText& module;
  std::vector<std::string> slots;
  std::deque<Block> blocks;
  std::vector<Block*> order;
  std::vector<Scope> scopes;
};

} // namespace proteus
