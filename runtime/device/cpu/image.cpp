#include "runtime/device/cpu/image.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/environment.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/own_descriptors.h"
#include "runtime/device/cpu/services.h"

namespace mneme::device::cpu {

namespace {

constexpr const char* headerSymbol = "mneme_cpu_image";

/// Handles of live images: the loader takes a path it has seen for the library it has loaded.
struct LiveHandles {
  std::mutex mutex;
  std::unordered_set<void*> handles;

  bool add(void* handle) {
    std::lock_guard lock(mutex);
    return handles.insert(handle).second;
  }
  void remove(void* handle) {
    std::lock_guard lock(mutex);
    handles.erase(handle);
  }
};

LiveHandles& liveHandles() {
  static LiveHandles* instance = new LiveHandles;
  return *instance;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::CompileFailed, "this is not a kernel image for the CPU device: " + why);
}

/// Null when the path cannot be opened or stands for an image that is already loaded.
void* openFresh(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return nullptr;
  if (liveHandles().add(handle))
    return handle;
  dlclose(handle);
  return nullptr;
}

/// A spelling of the path of a descriptor of this thread that no loaded image of this process has,
/// whichever library loaded it. The loader takes a path it has seen for the library it has loaded,
/// and numbers of descriptors come again; the number of the inode is the file's as long as it is
/// mapped.
std::string freshPath(int file) {
  struct stat status = {};
  fstat(file, &status);
  std::string path = "/proc/thread-self/fd/";
  for (uint64_t bits = status.st_ino; bits != 0; bits >>= 1)
    path += (bits & 1) ? "./" : "/";
  return path + std::to_string(file);
}

void* openInMemory(std::span<const std::byte> elf) {
  const UniqueFd file(memfd_create("mneme-kernel", MFD_CLOEXEC));
  if (!file)
    return nullptr;
  writeAll(file.get(), elf, "memory file");
  return openFresh(freshPath(file.get()));
}

void* openTemporary(std::span<const std::byte> elf) {
  const char* directory = environmentValue("TMPDIR");
  std::string path = std::string(directory && *directory ? directory : "/tmp") + "/mneme-XXXXXX";
  UniqueFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file)
    return nullptr;
  void* handle = nullptr;
  try {
    writeAll(file.get(), elf, path);
    handle = openFresh(path);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
  unlink(path.c_str());
  return handle;
}

} // namespace

std::unique_ptr<Image> Image::load(std::span<const std::byte> elf) {
  return std::make_unique<LoadedImage>(elf);
}

LoadedImage::LoadedImage(std::span<const std::byte> elf) {
  if (elf.size() < 64 || memcmp(elf.data(), "\177ELF", 4) != 0)
    refuse("it is not an ELF file");
  open(elf);
  header_ = static_cast<const mneme_cpu_image_header*>(dlsym(handle_, headerSymbol));
  try {
    checkHeader();
  } catch (...) {
    liveHandles().remove(handle_);
    dlclose(handle_);
    throw;
  }
  *header_->services = &serviceTable();
}

LoadedImage::~LoadedImage() {
  liveHandles().remove(handle_);
  dlclose(handle_);
}

void LoadedImage::open(std::span<const std::byte> elf) {
  std::string reason;
  runApart([&] {
    handle_ = openInMemory(elf);
    if (!handle_)
      handle_ = openTemporary(elf);
    if (const char* said = handle_ ? nullptr : dlerror())
      reason = said;
  });
  if (!handle_)
    refuse(reason.empty() ? "the loader gave no reason" : reason);
}

void LoadedImage::checkHeader() const {
  if (!header_)
    refuse(std::string("it does not export ") + headerSymbol);
  if (header_->abi != MNEME_CPU_IMAGE_ABI)
    refuse("it has image ABI " + std::to_string(header_->abi) + ", this version runs " +
           std::to_string(MNEME_CPU_IMAGE_ABI) + "; compile the kernel again");
  const bool isLoop = (header_->flags & MNEME_CPU_IMAGE_LOOP) != 0;
  if (!header_->services || !header_->kernelName ||
      (isLoop ? !header_->run_block : !header_->run_thread))
    refuse("its header is incomplete");
  if ((header_->flags & MNEME_CPU_IMAGE_CONTEXT) && !header_->set_context)
    refuse("its header asks for set_context and has none");
}

void LoadedImage::bindGlobal(size_t index, void* address) {
  if (index >= header_->globalCount)
    throw Error(ErrorCode::InvalidArgument, "kernel '" + std::string(header_->kernelName) +
                                                "' has no device global number " +
                                                std::to_string(index));
  *header_->globals[index].slot = address;
}

void LoadedImage::initialiseGlobals(const std::vector<bool>& isFresh) {
  for (size_t i = 0; i < header_->globalCount && i < isFresh.size(); ++i) {
    const mneme_cpu_global& global = header_->globals[i];
    if (!isFresh[i] || !*global.slot)
      continue;
    if (global.initializer)
      memcpy(*global.slot, global.initializer, global.sizeBytes);
    else
      memset(*global.slot, 0, global.sizeBytes);
  }
  for (size_t i = 0; i < header_->relocationCount; ++i) {
    const mneme_cpu_relocation& relocation = header_->relocations[i];
    if (relocation.global >= isFresh.size() || !isFresh[relocation.global])
      continue;
    const mneme_cpu_global& holder = header_->globals[relocation.global];
    const mneme_cpu_global& target = header_->globals[relocation.target];
    const uint64_t value =
        reinterpret_cast<uint64_t>(*target.slot) + static_cast<uint64_t>(relocation.addend);
    memcpy(static_cast<char*>(*holder.slot) + relocation.offset, &value, sizeof value);
  }
}

} // namespace mneme::device::cpu
