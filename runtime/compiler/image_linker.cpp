#include "runtime/compiler/image_linker.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "runtime/compiler/fatal_guard.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

LLD_HAS_DRIVER(elf)

namespace mneme::compile {
namespace {

/// This thread may have descriptors of its own.
std::string descriptorPath(const UniqueFd& descriptor) {
  return "/proc/thread-self/fd/" + std::to_string(descriptor.get());
}

UniqueFd memoryFileWith(const std::string& content) {
  UniqueFd file(memfd_create("mneme-object", MFD_CLOEXEC));
  if (!file)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot make a memory file", errno));
  writeAll(file.get(), std::as_bytes(std::span(content.data(), content.size())), "memory file");
  return file;
}

/// A pipe whose content a thread collects. lld replaces regular files by a temporary one beside
/// them, which needs a directory; into anything else it writes directly.
class CollectingPipe {
public:
  CollectingPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot make a pipe", errno));
    readEnd_ = UniqueFd(ends[0]);
    writeEnd_ = UniqueFd(ends[1]);
    reader_ = std::thread([this] { collect(); });
  }
  ~CollectingPipe() { finish(); }
  CollectingPipe(const CollectingPipe&) = delete;
  CollectingPipe& operator=(const CollectingPipe&) = delete;

  std::string path() const { return descriptorPath(writeEnd_); }

  /// Waits for the last byte.
  std::string finish() {
    writeEnd_ = UniqueFd();
    if (reader_.joinable())
      reader_.join();
    return std::move(content_);
  }

private:
  void collect() {
    char buffer[65536];
    for (;;) {
      const ssize_t count = read(readEnd_.get(), buffer, sizeof buffer);
      if (count > 0)
        content_.append(buffer, static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR)
        return;
    }
  }

  UniqueFd readEnd_;
  UniqueFd writeEnd_;
  std::string content_;
  std::thread reader_;
};

// Images and the compiler, which is a guest, share it: whatever it is linked with has it loaded.
constexpr const char* kCxxLibrary = "libstdc++.so.6";

/// A library of this process; stays open.
struct SystemLibrary {
  std::string path;
  void* handle;
};

/// libc, libm, loader, libgcc (which divides 128-bit integers) and C++ library (personalities):
/// what an image may refer to. Asked for by name, so that interposed libraries never take their
/// place.
std::vector<SystemLibrary> openSystemLibraries() {
  std::vector<SystemLibrary> libraries;
  for (const char* name : {LIBC_SO, LIBM_SO, LD_SO, LIBGCC_S_SO, kCxxLibrary}) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    const link_map* entry = nullptr;
    if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &entry) == 0 && entry->l_name[0] == '/')
      libraries.push_back({entry->l_name, handle});
  }
  return libraries;
}

const std::vector<SystemLibrary>& systemLibraries() {
  static const auto& libraries = *new std::vector<SystemLibrary>(openSystemLibraries());
  return libraries;
}

/// Handles find what the libraries need, too. What is in no file (of a thread) may be of any.
bool mayDefine(const SystemLibrary& library, const std::string& name) {
  void* const address = dlsym(library.handle, name.c_str());
  Dl_info place;
  return address && (dladdr(address, &place) == 0 || library.path == place.dli_fname ||
                     llvm::none_of(systemLibraries(), [&](const SystemLibrary& one) {
                       return one.path == place.dli_fname;
                     }));
}

std::vector<std::string> undefinedNames(const std::string& object) {
  const auto file = llvm::cantFail(
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "the object")));
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef& symbol : file->symbols())
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      names.push_back(llvm::cantFail(symbol.getName()).str());
  return names;
}

/// Files of the libraries that an object needs. Reading all their thousands of symbols would take
/// longer than everything else.
std::vector<std::string> librariesFor(const std::string& object) {
  const std::vector<std::string> names = undefinedNames(object);
  std::vector<std::string> paths;
  for (const SystemLibrary& library : systemLibraries())
    if (llvm::any_of(names, [&](const std::string& name) { return mayDefine(library, name); }))
      paths.push_back(library.path);
  return paths;
}

std::string firstLine(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  for (const char* prefix : {"ld.lld: ", "error: "})
    if (line.rfind(prefix, 0) == 0)
      line.erase(0, strlen(prefix));
  return line;
}

} // namespace

std::string linkSharedObject(const std::string& object, ImageKind kind) {
  const bool isForHost = kind != ImageKind::CodeObject;
  const std::vector<std::string> libraries =
      isForHost ? librariesFor(object) : std::vector<std::string>();
  const UniqueFd input = memoryFileWith(object);
  CollectingPipe output;

  const std::string inputPath = descriptorPath(input);
  const std::string outputPath = output.path();
  std::vector<const char*> arguments = {
      "ld.lld", "-shared",          "--build-id=none", "--threads=1", "--color-diagnostics=never",
      "-o",     outputPath.c_str(), inputPath.c_str()};
  if (isForHost)
    arguments.insert(arguments.end(),
                     {"-z", "now", "-z", "noexecstack", "--hash-style=gnu", "--as-needed", "-s"});
  if (kind == ImageKind::Kernel || kind == ImageKind::CodeObject)
    arguments.insert(arguments.end(), {"-z", "defs"});
  else
    arguments.push_back("--eh-frame-hdr");
  if (kind == ImageKind::Library)
    arguments.push_back("-Bsymbolic");
  for (const std::string& library : libraries)
    arguments.push_back(library.c_str());

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  bool isLinked = false;
  {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const FatalCleanup unlock([](void* held) { static_cast<std::mutex*>(held)->unlock(); }, &mutex);
    lld::CommonLinkerContext::destroy(); // left behind by a link that ended in a fatal error
    isLinked = lld::elf::link(arguments, stream, stream, false, false);
    lld::CommonLinkerContext::destroy();
  }
  if (!isLinked)
    throw Error(ErrorCode::CompileFailed, "cannot link the image: " + firstLine(messages));
  return output.finish();
}

} // namespace mneme::compile
