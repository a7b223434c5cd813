// Room jit/frontend: the state of a dispatcher.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "include/proteus/CppJitCompilerBackend.h"
#include "include/proteus/Frontend/Dispatcher.h"
#include "runtime/compiler/service/service.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/frontend/vendor_runtime.h"
#include "runtime/jit/jit_settings.h"

namespace proteus {

struct Dispatcher::State {
  explicit State(TargetModelType target);

  /// All throw mneme::Error.
  std::shared_ptr<CompiledLibrary> compileIR(const std::string& code, uint64_t hash);
  std::shared_ptr<CompiledLibrary> compileMlir(const std::string& code, uint64_t hash);
  /// Returns unoptimised LLVM IR.
  std::string loweredMlir(const std::string& code) const;
  std::shared_ptr<CompiledLibrary> compileSource(const std::string& code, uint64_t hash,
                                                 const std::vector<std::string>& extra,
                                                 CppJitCompilerBackend backend);
  /// Returns the image of a module: a stored one, or compiles it.
  mneme::compile::Result obtain(const mneme::compile::Request& request, uint64_t hash);
  mneme::compile::Result compile(mneme::compile::Request request) const;
  /// Prints the traces of a compilation.
  void noteCompiled(const mneme::compile::Request& request, const mneme::compile::Result& result,
                    uint64_t hash) const;
  std::shared_ptr<CompiledLibrary> load(std::span<const std::byte> image) const;
  const mneme::frontend::VendorRuntime& runtime() const;
  /// Names of a function in statistics.
  struct Names {
    std::string symbol;
    std::string kernel; ///< as its user wrote it; empty if it is not a kernel
  };
  /// Looks up a function, and counts that. \throws mneme::Error{NotFound}
  void* find(const std::string& symbol, uint64_t hash, CompiledLibrary& library,
             const Names& names);

  /// Name of the stored object. `suffix`: ".o", ".so".
  std::string entryName(uint64_t hash, const char* suffix) const;
  std::string pipeline() const;
  /// Makes a request with the settings that all share.
  mneme::compile::Request requestFor(const std::string& code) const;
  mneme::compile::Request requestForMlir(const std::string& code) const;
  /// Returns the architecture to compile for: "sm_90", "gfx90a" on a GPU; on the CPU device, one
  /// that it supports.
  std::string architecture() const;
  bool isForHost() const { return target == TargetModelType::HOST; }
  void countLaunch(const void* kernel) noexcept;
  /// Schedules report() at the end of the process, before everything registered so far.
  void reportAtEnd();
  /// Prints the report, once.
  void report() noexcept;

  const TargetModelType target;
  const std::string label; ///< "DispatcherHost"
  mneme::jit::Settings settings;
  mneme::compile::ServiceOptions service;
  mneme::jit::CacheReport lookups; ///< each handle of a function counts as a use
  std::mutex mutex;                ///< guards the members below
  std::map<const void*, mneme::jit::CacheReport::Entry*> launched; ///< by handle
  std::atomic<bool> isReported = false;
};

} // namespace proteus
