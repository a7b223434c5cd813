// Room frontend: what a dispatcher works with.
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
#include "runtime/compile/service/service.h"
#include "runtime/frontend/vendor_runtime.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/settings.h"

namespace proteus {

struct Dispatcher::State {
  explicit State(TargetModelType target);

  /// \throws mneme::Error, all of them
  std::shared_ptr<CompiledLibrary> compileIR(const std::string& code, uint64_t hash);
  std::shared_ptr<CompiledLibrary> compileMlir(const std::string& code, uint64_t hash);
  /// LLVM IR, before any optimisation.
  std::string loweredMlir(const std::string& code) const;
  std::shared_ptr<CompiledLibrary> compileSource(const std::string& code, uint64_t hash,
                                                 const std::vector<std::string>& extra,
                                                 CppJitCompilerBackend backend);
  /// The image of a module: stored, or compiled now.
  mneme::compile::Result obtain(const mneme::compile::Request& request, uint64_t hash);
  mneme::compile::Result compile(mneme::compile::Request request) const;
  /// Says what there is to say of a compilation.
  void noteCompiled(const mneme::compile::Request& request, const mneme::compile::Result& result,
                    uint64_t hash) const;
  std::shared_ptr<CompiledLibrary> load(std::span<const std::byte> image) const;
  const mneme::frontend::VendorRuntime& runtime() const;
  /// What statistics call a function.
  struct Names {
    std::string symbol;
    std::string kernel; ///< as its user wrote it; empty if it is none
  };
  /// A look-up, which counts. \throws mneme::Error{NotFound}
  void* find(const std::string& symbol, uint64_t hash, CompiledLibrary& library,
             const Names& names);

  /// Name of the stored object. `suffix`: ".o", ".so".
  std::string entryName(uint64_t hash, const char* suffix) const;
  std::string pipeline() const;
  /// What all of these ask for alike.
  mneme::compile::Request requestFor(const std::string& code) const;
  mneme::compile::Request requestForMlir(const std::string& code) const;
  /// What is compiled for: "sm_90", "gfx90a" on a GPU; on the CPU device, one that it knows.
  std::string architecture() const;
  bool isForHost() const { return target == TargetModelType::HOST; }
  void countLaunch(const void* kernel) noexcept;
  /// What report() prints comes before what was registered for the end of the process so far.
  void reportAtEnd();
  /// Once.
  void report() noexcept;

  const TargetModelType target;
  const std::string label; ///< "DispatcherHost"
  mneme::jit::Settings settings;
  mneme::compile::ServiceOptions service;
  mneme::jit::CacheReport lookups; ///< a handle of a function is a use
  std::mutex mutex;                ///< of what follows
  std::map<const void*, mneme::jit::CacheReport::Entry*> launched; ///< by handle
  std::atomic<bool> isReported = false;
};

} // namespace proteus
