// Room jit/frontend: a function of MLIR while it is written.
//
// MLIR's loops and conditions have regions, which are left at their end only. A return inside one
// stores the result and notes that the function is over; what comes behind the region is guarded:
// it goes into a condition of its own, to the end of the region around it.
#pragma once

#include "include/proteus/Frontend/MLIRCodeBuilder.h"
#include "runtime/jit/frontend/dsl/module_text.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace proteus {

struct MLIRCodeBuilder::Region {
  std::vector<std::string> lines = {};
  std::string guard = {}; ///< of a guarded rest: its condition
  bool isClosed = false;  ///< what is written next never runs
};

struct MLIRCodeBuilder::Scope : OpenScope {
  bool mayReturn = false;
  Region body = {};             ///< once it is closed
  Region test = {};             ///< of a while
  IRValue* condition = nullptr; ///< of an if or a while
  IRType type = {};             ///< of a for, as what follows
  IRValue* slot = nullptr;
  IRValue* bound = nullptr;
  IRValue* step = nullptr;
  bool isSlotChanged = false; ///< by the body
};

struct MLIRCodeBuilder::State : FunctionText {
  State(MLIRModuleText& module, IRFunction function)
      : FunctionText(std::move(function)), module(module) {}

  std::string newName(const std::string& hint);
  /// Whether it is a memref, whose address is not a value of LLVM.
  bool isSlot(const IRValue& value) const { return slotTypes.count(value.Name) != 0; }
  void noteChange(const IRValue& slot);

  MLIRModuleText& module;
  std::vector<std::string> constants; ///< at the beginning of the function, as what follows
  std::vector<std::string> slots;
  std::map<std::string, IRValue*> knownConstants;
  std::map<std::string, std::string> slotTypes; ///< memref's, by name
  std::set<std::string> takenAddresses;         ///< of slots
  std::vector<Region> regions;
  std::vector<Scope> scopes;
  IRValue* returned = nullptr; ///< slot: the function is over
  IRValue* result = nullptr;   ///< slot
};

} // namespace proteus
