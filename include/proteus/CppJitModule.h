// Modules of C++, CUDA or HIP source that are compiled at run time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "proteus/CppJitCompilerBackend.h"
#include "proteus/Frontend/TextModule.h"
#include "proteus/LLVMIRJitModule.h" // programs have it by this header

namespace proteus {

namespace detail {

/// How source text names a type.
template <typename T> std::string typeName() {
  if constexpr (std::is_null_pointer_v<T>)
    return "decltype(nullptr)";                 // its name needs a header
  const std::string Text = __PRETTY_FUNCTION__; // "... [with T = int; ...]", "... [T = int]"
  const size_t Begin = Text.find("T = ") + 4;
  size_t End = Begin;
  for (int Depth = 0; End < Text.size() && (Depth > 0 || (Text[End] != ';' && Text[End] != ']'));
       ++End)
    Depth += Text[End] == '[' || Text[End] == '<' || Text[End] == '('   ? 1
             : Text[End] == ']' || Text[End] == '>' || Text[End] == ')' ? -1
                                                                        : 0;
  return Text.substr(Begin, End - Begin);
}

/// An address of its own for each list of types.
template <typename... Types> const void* typesTag() {
  static const char Tag = 0;
  return &Tag;
}

/// The instances of templates in one source, and what they are compiled from.
struct CppTemplates;

} // namespace detail

/// An instance of a template in the module's source: `foo<3, int>`.
class PROTEUS_API CppJitInstance {
public:
  CppJitInstance(detail::CppTemplates& Source, std::string Expression)
      : Source(&Source), Expression(std::move(Expression)) {}

  /// Calls it on the host. It is compiled once for each list of types it is called with.
  template <typename Result, typename... Args> Result run(Args&&... Arguments) {
    const void* Tag = detail::typesTag<Result, std::decay_t<Args>...>();
    void* Function = known(Tag);
    if (!Function)
      Function =
          function(Tag, detail::typeName<Result>(), {detail::typeName<std::decay_t<Args>>()...});
    auto Address = reinterpret_cast<Result (*)(std::decay_t<Args>...)>(Function);
    return Address(std::forward<Args>(Arguments)...);
  }

  /// Launches it on the module's GPU. Returns the runtime's last error.
  template <typename... Args>
  DispatchResult launch(LaunchDims Grid, LaunchDims Block, uint64_t ShmemSize, void* Stream,
                        Args&&... Arguments) {
    using Launcher =
        int (*)(const unsigned*, const unsigned*, uint64_t, void*, std::decay_t<Args>...);
    const void* Tag = detail::typesTag<void, std::decay_t<Args>...>();
    void* Function = known(Tag);
    if (!Function)
      Function = launcher(Tag, {detail::typeName<std::decay_t<Args>>()...});
    const auto Address = reinterpret_cast<Launcher>(Function);
    const unsigned Dims[] = {Grid.X, Grid.Y, Grid.Z, Block.X, Block.Y, Block.Z};
    return Address(Dims, Dims + 3, ShmemSize, Stream, std::forward<Args>(Arguments)...);
  }

  /// Sets an attribute for the launches after this.
  void setFuncAttribute(JitFuncAttribute Attribute, int Value,
                        const char* CallerFile = __builtin_FILE(),
                        unsigned CallerLine = __builtin_LINE());

private:
  struct Version {
    const void* Tag;
    void* Address;
  };

  /// The version of the last call, if it is for these types.
  void* known(const void* Tag) const {
    const Version* One = Last.load(std::memory_order_acquire);
    return One && One->Tag == Tag ? One->Address : nullptr;
  }
  void* function(const void* Tag, const std::string& Result, const std::vector<std::string>& Types);
  void* launcher(const void* Tag, const std::vector<std::string>& Types);
  void* recall(const void* Tag, bool IsForGPU);
  void* compile(const void* Tag, const std::string& Wrapper, bool IsForGPU);

  detail::CppTemplates* Source;
  std::string Expression;
  std::map<int, int> Attributes;
  std::atomic<const Version*> Last{nullptr};
  std::map<const void*, const Version*> Present; ///< by tag
  std::deque<Version> Versions;                  ///< older ones too: somebody may be reading them
};

/// Every member throws proteus::FatalError with what the compiler printed where the source does not
/// compile.
class PROTEUS_API CppJitModule final : public detail::TextModule {
public:
  /// `ExtraArgs` come last on the compiler's command line. Errors name `File` and `Line`.
  CppJitModule(TargetModelType Target, std::string Code, std::vector<std::string> ExtraArgs = {},
               CppJitCompilerBackend Backend = CppJitCompilerBackend::Clang,
               const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE());
  CppJitModule(const std::string& Target, std::string Code, std::vector<std::string> ExtraArgs = {},
               CppJitCompilerBackend Backend = CppJitCompilerBackend::Clang,
               const char* File = __builtin_FILE(), unsigned Line = __builtin_LINE())
      : CppJitModule(parseTargetModel(Target, File, Line), std::move(Code), std::move(ExtraArgs),
                     Backend, File, Line) {}

  /// `instantiate("foo", "3", "int")` is foo<3, int>. Lives as long as the module or a copy of it;
  /// the same words give the same object.
  template <typename... Words>
  CppJitInstance& instantiate(const std::string& Name, Words&&... Args) {
    return instance(Name, {std::string(std::forward<Words>(Args))...});
  }

private:
  friend class CppJitInstance;
  std::shared_ptr<CompiledLibrary> compileCode() override;
  CppJitInstance& instance(const std::string& Name, const std::vector<std::string>& Words);

  std::vector<std::string> ExtraArgs;
  CppJitCompilerBackend Backend;
  std::shared_ptr<detail::CppTemplates> Templates;
};

} // namespace proteus
