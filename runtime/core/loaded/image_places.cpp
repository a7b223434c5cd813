#include "runtime/core/loaded/image_places.h"

#include <algorithm>
#include <cstdint>

#include <dlfcn.h>
#include <link.h>

#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::loaded {

bool isBuiltIn(const void* image) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(image);
  return dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        const uintptr_t wanted = *static_cast<const uintptr_t*>(user);
        return static_cast<int>(std::any_of(
            info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum, [&](const ElfW(Phdr) & part) {
              return part.p_type == PT_LOAD && !(part.p_flags & PF_W) &&
                     wanted - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
            }));
      },
      const_cast<uintptr_t*>(&address));
}

bool staysInPlace(const void* image) noexcept {
  try {
    return isBuiltIn(embed::imageInMemory(image).data());
  } catch (const std::exception&) { // its reader says what is wrong
    return false;
  }
}

bool isOfLibrary(const void* image, std::span<const char* const> prefixes) noexcept {
  Dl_info info{};
  if (!dladdr(image, &info) || !info.dli_fname)
    return false;
  const std::string_view path = info.dli_fname;
  const std::string_view file = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return std::ranges::any_of(prefixes,
                             [&](const char* prefix) { return file.starts_with(prefix); });
}

embed::CodeImage imageOfVendor(const void* fatBinary, std::string_view architecture) {
  constexpr uint64_t kMostBytes = 256ull << 20;
  return embed::copyImage(
      embed::memberFor(embed::imageInMemory(fatBinary), architecture, kMostBytes));
}

} // namespace mneme::loaded
