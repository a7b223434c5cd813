#include "runtime/emulator/executor/image.h"

#include <cstring>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/library_in_memory.h"
#include "runtime/emulator/executor/services.h"

namespace mneme::device::cpu {

namespace {

constexpr const char* headerSymbol = "mneme_cpu_image";

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::CompileFailed, "this is not a kernel image for the CPU device: " + why);
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
    closeLibraryInMemory(handle_);
    throw;
  }
  *header_->services = &serviceTable();
}

LoadedImage::~LoadedImage() { closeLibraryInMemory(handle_); }

void LoadedImage::open(std::span<const std::byte> elf) {
  try {
    handle_ = openLibraryInMemory(elf);
  } catch (const Error& error) {
    refuse(error.what());
  }
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
