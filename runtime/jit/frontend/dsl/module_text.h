// Room jit/frontend: a module of the embedded language as text of an intermediate language: what
// its functions share, whichever that language is.
#pragma once

#include "include/proteus/Frontend/CodeBuilder.h"
#include "include/proteus/Frontend/TargetModel.h"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace proteus {

/// Around the name of a callee in the text of a call, until the module knows its functions.
constexpr char kCallee = '\x01';

/// A call by name, kept until the functions of the module are known.
struct PendingCall {
  std::string callee;
  IRType result;
  std::vector<IRType> arguments;
  const char* file;
  unsigned line;
};

/// What the module knows of a function while it is written.
struct FunctionText {
  explicit FunctionText(IRFunction function)
      : function(std::move(function)), originalName(this->function.Name) {}

  /// As ValueSymbolTable names values: the hint, else the hint and the next number.
  std::string uniqueName(const std::string& hint);
  /// Ends the program once the function has ended.
  void requireOpen() const;
  /// Ends the program if it has begun before.
  void begin(const char* beginFile, unsigned beginLine);
  /// Ends the program if it does not return this; nullptr: nothing.
  void requireResult(const IRValue* value) const;
  IRValue* value(std::string name, IRType type);

  IRFunction function;
  std::string originalName;             ///< what calls say, before the module is compiled
  const CodeBuilder* builder = nullptr; ///< to fail with its line
  std::deque<IRValue> values;
  std::vector<IRValue*> arguments;
  std::set<std::string> names;
  unsigned lastName = 0;
  const char* file = "unknown"; ///< where it was begun
  unsigned line = 0;
  bool isBegun = false;
  bool isEnded = false;
};

class ModuleText {
public:
  explicit ModuleText(TargetModelType target) : target_(target) {}
  virtual ~ModuleText();
  ModuleText(const ModuleText&) = delete;
  ModuleText& operator=(const ModuleText&) = delete;

  TargetModelType target() const { return target_; }
  bool isCuda() const { return target_ == TargetModelType::CUDA; }
  bool isHip() const { return target_ == TargetModelType::HIP; }

  virtual std::unique_ptr<CodeBuilder> makeBuilder(IRFunction function) = 0;
  /// As it is now.
  virtual std::string text() const = 0;

  /// Ends the program if threads and blocks are asked for on the host.
  void requireGpu(const CodeBuilder& builder) const;

  /// Neither a function nor an array of the module has this name.
  bool isFree(const std::string& name) const;
  /// Renames a function; calls say the new name.
  void rename(const std::string& from, const std::string& to);
  /// Ends the names of all functions with `suffix`, in place of one that was added before.
  void addSuffix(const std::string& suffix);
  void call(PendingCall call) { calls_.push_back(std::move(call)); }

  /// Ends the program if a call does not fit its callee or a function has no end.
  void check() const;
  /// Ends the program with what the compiler says, and with the line of the call it speaks of.
  [[noreturn]] void fail(const std::string& reason) const;

protected:
  void addFunction(FunctionText* function) { functions_.push_back(function); }
  /// A name like `hint` for a variable of the module.
  std::string nameOfArray(const std::string& hint);
  FunctionText* find(const std::string& name) const;
  /// What a call says in place of what stands between two kCallee.
  std::string withCallee(const std::string& line, std::string (*quoted)(const std::string&)) const;
  const std::vector<PendingCall>& calls() const { return calls_; }

private:
  TargetModelType target_;
  std::vector<FunctionText*> functions_;
  std::set<std::string> arrays_;
  std::vector<PendingCall> calls_;
};

// Scopes of the language.
enum ScopeKind { kFunctionScope, kIfScope, kForScope, kWhileScope };

/// What every scope has.
struct OpenScope {
  int kind = kFunctionScope;
  const char* file = "unknown";
  unsigned line = 0;
};

/// The new innermost scope.
template <typename Scope>
Scope& openScope(std::vector<Scope>& scopes, int kind, const char* file, unsigned line) {
  scopes.emplace_back();
  static_cast<OpenScope&>(scopes.back()) = {kind, file, line};
  return scopes.back();
}

/// Takes the innermost scope, which has to be of this kind, or ends the program.
template <typename Scope>
Scope takeScope(const CodeBuilder& builder, std::vector<Scope>& scopes, int kind) {
  constexpr const char* names[] = {"FUNCTION", "IF", "FOR", "WHILE"};
  const std::string expected = names[kind];
  if (scopes.empty())
    builder.fail("Expected " + expected + " scope");
  Scope closed = std::move(scopes.back());
  if (closed.kind != kind)
    builder.fail("Syntax error, expected " + expected + " end scope but found unterminated scope " +
                 names[closed.kind] + " @ " + closed.file + ":" + std::to_string(closed.line));
  scopes.pop_back();
  return closed;
}

} // namespace proteus
