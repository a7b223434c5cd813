#include "runtime/recorder/loaded_code.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "runtime/core/abi/argument_buffer.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/sentence.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/loaded/image_places.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// The call under way in this thread, as the program wrote it.
thread_local const Next* asWritten = nullptr;

/// In this thread, whatever becomes of them.
thread_local uint64_t launches = 0;

int callAsWritten(const void*, mneme_dim3, mneme_dim3, void**, size_t, void*) {
  return (*asWritten)();
}

int callConfigAsWritten(const void*, const void*, void**) { return (*asWritten)(); }

uint32_t formOf(const LoadedLaunch& launch) {
  return launch.config          ? MNEME_LAUNCH_EX
         : launch.isCooperative ? MNEME_LAUNCH_COOPERATIVE
                                : MNEME_LAUNCH_PLAIN;
}

/// The image that `read` returns, with the options it is compiled by, and the IR that it carries.
template <typename Read>
LoadedContent contentBy(Session& session, const Read& read,
                        const std::vector<embed::JitOption>& options) noexcept {
  LoadedContent content;
  try {
    const auto& image = read();
    content.image = embed::withJitOptions(embed::copyImage(image), options,
                                          options.empty() ? "" : session.backend().architecture());
    embed::BlobSet blobs = embed::readDeviceImage(image);
    // Code objects that mneme made hold the IR of their own instructions, not the program's.
    std::erase_if(blobs.kernels, [](const auto& item) { return item.second->staticHash == 0; });
    content.blobs = std::make_shared<const embed::BlobSet>(std::move(blobs));
  } catch (const std::exception& error) {
    session.note(
        sentence("the IR of code that the program loaded itself cannot be read: ", error.what()));
  }
  return content;
}

/// What a library of the vendor's has for this GPU: no IR, and next to code for all others.
LoadedContent contentOfVendor(Session& session, const void* fatBinary) noexcept {
  LoadedContent content;
  try {
    content.image = loaded::imageOfVendor(fatBinary, session.backend().architecture());
  } catch (const std::exception& error) {
    session.note(sentence("code of one of the vendor's libraries cannot be read: ", error.what()));
  }
  return content;
}

/// Also inside of other calls: a runtime loads code and asks for kernels when they are first used.
/// Call it after the guard is made.
Session* activeSession() noexcept {
  Session* session = Session::existing();
  return session && session->isActive() ? session : nullptr;
}

/// `image` is null for code from a file. What is built in stays where it is, may be gigabytes, and
/// is read when the first of its kernels is launched. Programs may free other code at once.
template <typename Read>
int watchLoad(void** module, const void* image, CodeKind kind, const embed::GivenOptions& given,
              const Next& next, const Read& read) {
  const CallGuard guard;
  const std::vector<embed::JitOption> options =
      activeSession() ? embed::jitOptionsOf(given) : std::vector<embed::JitOption>();
  const int status = next();
  Session* session = status == 0 && module && *module ? activeSession() : nullptr;
  if (!session)
    return status;
  auto loaded = std::make_shared<LoadedModule>();
  loaded->handle = *module;
  loaded->isLibrary = kind == CodeKind::Library;
  if (!loaded->isLibrary)
    loaded->context = session->backend().currentPlace().context;
  loaded->isOfVendor = image && loaded::isOfLibrary(image, session->backend().kernelLibraries());
  loaded->isBuiltIn =
      loaded->isLibrary && image && (loaded->isOfVendor || loaded::staysInPlace(image));
  // The vendors' libraries hold hundreds of megabytes of code for many GPUs, none of which has IR.
  // What library it is in is asked here: a thread that loads one may wait for the one that reads.
  if (image && loaded::isOfLibrary(image, session->backend().waitingLibraries()))
    loaded->read = [] { return LoadedContent(); };
  else if (loaded->isOfVendor)
    loaded->read = [session, image] { return contentOfVendor(*session, image); };
  else
    loaded->read = [session, read, options] { return contentBy(*session, read, options); };
  if (!loaded->isBuiltIn)
    loaded->content();
  session->moduleLoaded(std::move(loaded));
  return status;
}

} // namespace

const char* whyUnreadable(const KernelInfo& info) noexcept {
  return info.isOfVendor ? kOfVendor : info.isBuiltIn ? kNotBuilt : kWithoutIr;
}

int watchModule(void** module, const void* image, const Next& next, CodeKind kind,
                const embed::GivenOptions& given) {
  return watchLoad(module, image, kind, given, next,
                   [image] { return embed::imageInMemory(image); });
}

int watchModuleFile(void** module, const char* path, const Next& next, CodeKind kind,
                    const embed::GivenOptions& given) {
  return watchLoad(module, nullptr, kind, given, next,
                   [path] { return apart([&] { return readFile(path); }); });
}

int watchModuleUnload(void* module, const Next& next) {
  const CallGuard guard;
  Session* session = activeSession();
  const auto unloading = session ? session->unloads() : std::unique_lock<std::shared_mutex>();
  // Before the vendor gives its handles to another module.
  const auto known = session ? session->moduleUnloaded(module) : nullptr;
  const int status = next();
  if (known && status != 0)
    session->moduleLoaded(known);
  return status;
}

int watchModuleOf(void** module, void* library, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = status == 0 && module && *module ? activeSession() : nullptr;
  if (session)
    session->moduleAskedFor(library, *module);
  return status;
}

int watchModuleKernel(const void** function, void* module, const char* name, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = status == 0 && function && *function && name ? activeSession() : nullptr;
  if (session)
    session->kernelAskedFor(*function, module, name);
  return status;
}

int watchModuleKernels(const void** functions, unsigned count, void* module,
                       unsigned (*countOf)(void* module), const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = status == 0 && functions ? activeSession() : nullptr;
  if (!session)
    return status;
  const unsigned known = std::min(count, countOf(module));
  for (unsigned index = 0; index < known; ++index)
    if (const std::string name = session->backend().nameOf(functions[index]); !name.empty())
      session->kernelAskedFor(functions[index], module, name.c_str());
  return status;
}

int watchAlias(const void** function, const void* kernel, const Next& next) {
  const CallGuard guard;
  const int status = next();
  Session* session = status == 0 && function && *function && kernel ? activeSession() : nullptr;
  if (session)
    session->aliasAskedFor(*function, kernel);
  return status;
}

int watchShadow(const void** function, const void* shadow, const Next& next) {
  return mneme_rt_find_kernel(shadow, nullptr, nullptr) ? watchAlias(function, shadow, next)
                                                        : next();
}

AsWritten::AsWritten(const Next& next) noexcept : outer_(std::exchange(asWritten, &next)) {}
AsWritten::~AsWritten() { asWritten = outer_; }

mneme_launch asRecorded(const LoadedLaunch& launch, const void* kernel, void** args) noexcept {
  return {.version = MNEME_RT_ABI,
          .form = formOf(launch),
          .kernel = kernel,
          .grid = launch.grid,
          .block = launch.block,
          .args = args,
          .sharedBytes = launch.sharedBytes,
          .stream = launch.stream,
          .config = launch.config,
          .vendorEntry = launch.config ? reinterpret_cast<void*>(&callConfigAsWritten)
                                       : reinterpret_cast<void*>(&callAsWritten)};
}

uint64_t launchesOfLoaded() noexcept { return launches; }

int launchLoaded(const LoadedLaunch& launch, const Next& next) {
  ++launches;
  Session* session = isInsideCall() ? nullptr : Session::existing();
  if (!session || !session->isActive() || !launch.function)
    return next();
  const auto [kernel, info] = session->findKernel(launch.function);
  if (!info || !info->blob)
    return watchUnreadable(info ? whyUnreadable(*info) : kUnknown, launch.function, next);
  std::vector<void*> unpacked;
  if (!launch.args && !unpackArguments(launch.extra, info->blob->args, unpacked))
    return next(); // the vendor has to say what is wrong
  const mneme_launch recorded =
      asRecorded(launch, kernel, launch.args ? launch.args : unpacked.data());
  const AsWritten written(next);
  return mneme_launch_kernel(&recorded);
}

} // namespace mneme::record
