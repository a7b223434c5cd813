#include "runtime/compile/image_linker.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/compile/fatal_guard.h"

LLD_HAS_DRIVER(elf)

namespace mneme::compile {
namespace {

class MemoryFile {
public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (!descriptor_)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot make a memory file", errno));
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_.get()); }

  void write(const std::string& content) const {
    writeAll(descriptor_.get(), std::as_bytes(std::span(content.data(), content.size())), path());
  }

  std::string read() const {
    struct stat status = {};
    if (fstat(descriptor_.get(), &status) != 0)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot read the linked image", errno));
    std::string content(static_cast<size_t>(status.st_size), '\0');
    size_t done = 0;
    while (done < content.size()) {
      const ssize_t count = pread(descriptor_.get(), content.data() + done, content.size() - done,
                                  static_cast<off_t>(done));
      if (count <= 0)
        throw Error(ErrorCode::IoFailed, systemMessage("cannot read the linked image", errno));
      done += static_cast<size_t>(count);
    }
    return content;
  }

private:
  UniqueFd descriptor_;
};

/// Files of the loaded libraries that define the functions device code may call.
std::set<std::string> systemLibraries() {
  std::set<std::string> paths;
  for (const char* symbol : {"memcpy", "sin", "__tls_get_addr"}) {
    Dl_info info = {};
    void* address = dlsym(RTLD_DEFAULT, symbol);
    if (address && dladdr(address, &info) && info.dli_fname && info.dli_fname[0] == '/')
      paths.insert(info.dli_fname);
  }
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

std::string linkSharedObject(const std::string& object) {
  static const std::set<std::string> libraries = systemLibraries();
  const MemoryFile input("mneme-object");
  const MemoryFile output("mneme-image");
  input.write(object);

  const std::string inputPath = input.path();
  const std::string outputPath = output.path();
  std::vector<const char*> arguments = {
      "ld.lld", "-shared", "-z", "now", "-z", "defs", "-z", "noexecstack", "--hash-style=gnu",
      "--build-id=none", "--threads=1", "--no-mmap-output-file", "--as-needed", "-s",
      "--color-diagnostics=never", "-o", outputPath.c_str(), inputPath.c_str()};
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
  return output.read();
}

} // namespace mneme::compile
