// Room frontend: a function of LLVM IR while it is written.
#pragma once

#include "runtime/frontend/dsl/llvm_module.h"

#include <deque>
#include <set>
#include <string>
#include <vector>

namespace proteus {

/// Around the name of a callee in the text of a call, until the module knows its functions.
constexpr char kCallee = '\x01';

struct Block {
  std::string name;
  std::vector<std::string> lines;
  bool isClosed = false;  ///< ends with a branch or return
  bool isReached = false; ///< something that runs leads here
};

enum ScopeKind { kFunctionScope, kIfScope, kForScope, kWhileScope };

struct LLVMCodeBuilder::Scope {
  int kind = kFunctionScope;
  const char* file = "unknown";
  unsigned line = 0;
  Block* next = nullptr;  ///< behind it
  Block* again = nullptr; ///< of loops: where the condition is
  // For:
  IRType type;
  IRValue* slot = nullptr;
  IRValue* step = nullptr;
};

struct LLVMCodeBuilder::State {
  State(LLVMModuleText& module, IRFunction function)
      : module(module), function(std::move(function)), originalName(this->function.Name) {}

  /// As ValueSymbolTable names values: the hint, else the hint and the next number.
  std::string uniqueName(const std::string& hint);
  Block* newBlock(const std::string& hint);
  /// What is written next belongs to `block`.
  void place(Block* block);
  /// Where an instruction goes: after a return, to a block that is never reached.
  Block& open();
  void branch(Block* target, const std::string& suffix = "");
  void branchIf(const IRValue& condition, Block* yes, Block* no);

  LLVMModuleText& module;
  IRFunction function;
  std::string originalName; ///< what calls say, before the module is compiled
  std::deque<IRValue> values;
  std::vector<IRValue*> arguments;
  std::vector<std::string> slots;
  std::deque<Block> blocks;
  std::vector<Block*> order;
  std::vector<Scope> scopes;
  std::set<std::string> names;
  unsigned lastName = 0;
  const char* file = "unknown"; ///< where it was begun
  unsigned line = 0;
  bool isBegun = false;
  bool isEnded = false;
};

} // namespace proteus
