// Room jit: handles calls of marked host functions. If anything fails, the function runs as it was
// built.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/jit/cache_report.h"
#include "runtime/jit/host/function.h"
#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

/// The functions that the engine uses; see Services of the engine for kernels.
struct HostServices {
  std::function<compile::Result(const compile::Request& request)> compile;
  std::function<bool(const compile::Request& request, compile::Result& result)> findStored;
  std::function<void(const std::string& sentence)> warn; ///< prints each sentence once
  std::function<void(const std::string& text)> print;    ///< writes to stdout, as the program does
};

/// Must live as long as the process once it was called.
class HostEngine {
public:
  HostEngine(Settings settings, HostServices services);
  HostEngine(const HostEngine&) = delete;
  HostEngine& operator=(const HostEngine&) = delete;

  /// Implements mneme_jit_host_function(). Throws nothing, and is not a cancellation point.
  void* codeFor(mneme_host_function& description, void** arguments);
  /// Stops compiling and keeps what is compiled. Needed in a child of fork(), where locks may be
  /// held by threads that do not exist.
  void becomeChild() noexcept { isChild_.store(true, std::memory_order_relaxed); }
  /// At exit, prints what Settings::trace asks for.
  void report() noexcept;

private:
  HostFunction* functionFor(mneme_host_function& description) noexcept;
  void* obtain(HostFunction& function, uint64_t keyHash, const Key& key, void** arguments);
  void wait(HostVariant& variant, std::unique_lock<std::mutex>& lock);
  void* build(HostFunction& function, HostVariant& variant, uint64_t hash, void** arguments);
  void become(HostVariant& variant, HostVariant::State state);
  void noteCompiled(const compile::Request& request, const compile::Result& result,
                    uint64_t hash) const;
  compile::Result compileWith(const compile::Request& request) const;
  compile::Request requestFor(const HostFunction& function, uint64_t hash, void** arguments) const;
  uint64_t hashOf(const HostFunction& function, void** arguments) const;
  void runsAsBuilt(const HostFunction& function, const char* why) const noexcept;
  void count(HostVariant& variant) const noexcept;

  const Settings settings_;
  const HostServices services_;
  const bool isCounting_;
  CacheReport report_;
  std::atomic<bool> isChild_{false};

  std::mutex mutex_; ///< guards functions_ and the variants' states
  std::condition_variable changed_;
  std::vector<std::unique_ptr<HostFunction>> functions_;
};

} // namespace mneme::jit
