// Room compiler: collects LLVM's messages instead of printing them.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/Error.h>

#include <string>

#include "runtime/core/base/error.h"

namespace mneme::compile {

class Remarks;

/// Collects the error diagnostics of one LLVMContext. Warnings are dropped, and so are remarks that
/// nobody asks for.
class Diagnostics {
public:
  Diagnostics() = default;
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  /// Makes `context` report here, and to `remarks` unless null; both must outlive the context's
  /// use.
  void attach(llvm::LLVMContext& context, Remarks* remarks = nullptr);
  /// The errors so far, separated by "; "; empty if there are none.
  const std::string& errors() const { return errors_; }
  /// \throws Error{code} with `what` and the errors, if there are any.
  void throwIfErrors(ErrorCode code, const std::string& what) const;

private:
  std::string errors_;
};

/// \throws Error{code} "what: <LLVM's message>" if `error` is a failure.
void orThrow(llvm::Error error, ErrorCode code, const std::string& what);

template <typename T> T orThrow(llvm::Expected<T> value, ErrorCode code, const std::string& what) {
  if (!value)
    orThrow(value.takeError(), code, what);
  return std::move(*value);
}

} // namespace mneme::compile
