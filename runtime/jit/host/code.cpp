#include "runtime/jit/host/code.h"

#include <cstring>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/library_in_memory.h"

namespace mneme::jit {

void* loadHostCode(std::span<const std::byte> object, const mneme_host_function& function) {
  void* const handle = openLibraryInMemory(object);
  const auto* image = static_cast<const mneme_host_image*>(dlsym(handle, MNEME_HOST_IMAGE_SYMBOL));
  if (!image || image->version != MNEME_HOST_IMAGE_ABI || !image->entry)
    throw Error(ErrorCode::CompileFailed, "its compiled code is of another release");
  if (image->addresses && image->addressCount != function.addressCount)
    throw Error(ErrorCode::CompileFailed, "its compiled code refers to other addresses");
  if (image->addresses)
    memcpy(image->addresses, function.addresses, function.addressCount * sizeof(void*));
  for (uint64_t index = 0; index < image->fixupCount; ++index) {
    const mneme_host_fixup& fixup = image->fixups[index];
    *fixup.place = static_cast<char*>(function.addresses[fixup.index]) + fixup.addend;
  }
  return image->entry;
}

} // namespace mneme::jit
