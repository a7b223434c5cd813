// Small kernels as textual NVPTX IR, and the requests that compile them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/error.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

inline const char* const kVectorAdd = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@unused = addrspace(1) externally_initialized global i32 7

define ptx_kernel void @vectorAdd(ptr %a, ptr %b, ptr %c, i32 %n, float %scale) #0 {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = mul i32 %block, %width
  %i = add i32 %base, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %then, label %done
then:
  %index = sext i32 %i to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %pb = getelementptr inbounds float, ptr %b, i64 %index
  %pc = getelementptr inbounds float, ptr %c, i64 %index
  %x = load float, ptr %pa, align 4
  %y = load float, ptr %pb, align 4
  %product = fmul contract float %y, %scale
  %sum = fadd contract float %x, %product
  store float %sum, ptr %pc, align 4
  br label %done
done:
  ret void
}

define ptx_kernel void @otherKernel(ptr %a) #0 {
  store i32 1, ptr %a, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" }
)";

inline std::vector<std::byte> bytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

inline compile::Request vectorAddRequest(const std::string& target) {
  compile::Request request;
  request.modules = {bytesOf(kVectorAdd)};
  request.kernel = "vectorAdd";
  request.target = target;
  return request;
}

template <typename T> ArgValue argument(uint32_t index, T value) {
  ArgValue result;
  result.index = index;
  result.bytes.resize(sizeof value);
  memcpy(result.bytes.data(), &value, sizeof value);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Code and message of the Error that `action` throws; Ok if none.
struct Failure {
  ErrorCode code = ErrorCode::Ok;
  std::string message;
};
template <typename Action> Failure failureOf(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

/// Sets an environment variable for a scope; null removes it.
class ScopedEnvironment {
public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name))
      before_ = before;
    set(value);
  }
  ~ScopedEnvironment() { set(before_ ? before_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

private:
  void set(const char* value) {
    if (value)
      setenv(name_.c_str(), value, 1);
    else
      unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> before_;
};

/// Major version of the LLVM that compiles, for what only newer ones know.
inline int llvmMajor() {
  const std::string json = compile::versionJson();
  const std::string key = "\"llvm\":\"";
  const size_t at = json.find(key);
  return at == std::string::npos ? 0 : std::stoi(json.substr(at + key.size()));
}

} // namespace mneme::test
