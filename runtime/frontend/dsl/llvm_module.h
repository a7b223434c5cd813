// Room frontend: a module of LLVM IR as text: what its functions share, and how it is put together.
#pragma once

#include "include/proteus/Frontend/LLVMCodeBuilder.h"
#include "include/proteus/Frontend/TargetModel.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace proteus {

/// A call by name, kept until the functions of the module are known.
struct PendingCall {
  std::string callee;
  IRType result;
  std::vector<IRType> arguments;
  const char* file;
  unsigned line;
};

class LLVMModuleText {
public:
  explicit LLVMModuleText(TargetModelType target) : target_(target) {}

  TargetModelType target() const { return target_; }
  bool isCuda() const { return target_ == TargetModelType::CUDA; }
  bool isHip() const { return target_ == TargetModelType::HIP; }

  void add(LLVMCodeBuilder* function) { functions_.push_back(function); }
  /// Neither a function nor an array of the module has this name.
  bool isFree(const std::string& name) const;
  /// A variable of the module, with a name like `hint`; returns the name, without `@`.
  std::string addArray(const IRType& type, const std::string& hint);
  /// Once per name.
  void declare(const std::string& name, const std::string& declaration);
  /// Of a function; calls say the new name.
  void rename(const std::string& from, const std::string& to);
  /// To the names of all functions, in place of one that was added before.
  void addSuffix(const std::string& suffix);
  void call(PendingCall call) { calls_.push_back(std::move(call)); }
  /// The metadata node of a loop to unroll; see CodeBuilder::endFor.
  unsigned unrollNode(int count);

  /// Ends the program if a call does not fit its callee or a function has no end.
  void check() const;
  /// Ends the program with what the compiler says, and with the line of the call it speaks of.
  [[noreturn]] void fail(const std::string& reason) const;
  /// As it is now.
  std::string text() const;

private:
  std::string functionText(const LLVMCodeBuilder& function) const;
  std::string signature(const LLVMCodeBuilder& function) const;
  std::string declarations() const;
  LLVMCodeBuilder* find(const std::string& name) const;

  TargetModelType target_;
  std::vector<LLVMCodeBuilder*> functions_;
  std::set<std::string> arrays_;
  std::vector<std::string> globals_;
  std::map<std::string, std::string> declarations_;
  std::vector<PendingCall> calls_;
  std::vector<std::string> metadata_;
};

} // namespace proteus
