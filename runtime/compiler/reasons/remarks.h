// Room compiler: what LLVM's passes say they did, and what kept them from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace llvm {
class DiagnosticInfo;
class StringRef;
namespace json {
class Array;
} // namespace json
} // namespace llvm

namespace mneme::compile {

/// Remarks of one compilation. Equal ones are kept once, with their number.
class Remarks {
public:
  /// While alive, remarks are collected; `remarks` null: none are.
  class Listening {
  public:
    explicit Listening(Remarks* remarks);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

  private:
    Remarks* const remarks_;
  };

  /// Whether what this pass says is wanted now.
  bool isWanted(llvm::StringRef pass) const;
  /// Keeps a remark that is wanted, and nothing else.
  void add(const llvm::DiagnosticInfo& info);
  /// [{"kind": "passed", "missed", "analysis" or "failure", "pass", "name", "function" (mangled),
  /// "file", "line", "column" (of the source; "" and 0: not known), "message", "count"}], by place.
  llvm::json::Array json() const;
  /// How often a remark came that was not kept, since there were so many different ones.
  size_t leftOut() const { return leftOut_; }

private:
  /// File, line, column, function, pass, name, kind, message.
  using Key = std::tuple<std::string, unsigned, unsigned, std::string, std::string, std::string,
                         std::string, std::string>;

  bool isListening_ = false;
  size_t leftOut_ = 0;
  std::map<Key, int64_t> counts_;
};

} // namespace mneme::compile
