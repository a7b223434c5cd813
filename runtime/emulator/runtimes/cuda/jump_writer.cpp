#include "runtime/emulator/runtimes/cuda/jump_writer.h"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/cuda/jump.h"

namespace mneme::cpu_runtime::cuda {

void writeJumps(const LoadedObject& object, std::span<const JumpPlace> places) {
  if (places.empty())
    return;
  const auto [least, most] = std::ranges::minmax(places, {}, &JumpPlace::address);
  const uintptr_t end = most.address + jumpBytes(reinterpret_cast<const void*>(most.address));
  if (!object.isCode(least.address, end - least.address))
    throw Error(ErrorCode::Unsupported, "its code is in several parts");
  // Linkers begin a part in the middle of a page, too, which is then mapped as that part is.
  const auto pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = least.address / pageBytes * pageBytes;
  const int protection = object.protectionOf(least.address);
  // Other functions there may be running.
  if (mprotect(reinterpret_cast<void*>(first), end - first, protection | PROT_WRITE) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("its code cannot be written", errno));
  for (const JumpPlace& place : places)
    writeJump(reinterpret_cast<void*>(place.address), place.target);
  if (mprotect(reinterpret_cast<void*>(first), end - first, protection) != 0)
    noticeOnce(systemMessage("the code of the static CUDA runtime stays writable", errno));
}

} // namespace mneme::cpu_runtime::cuda
