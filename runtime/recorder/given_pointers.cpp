#include "runtime/recorder/given_pointers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "runtime/recorder/device_access.h"

namespace mneme::record {

namespace {

uint64_t wordAt(const void* bytes, size_t sizeBytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, std::min(sizeof(word), sizeBytes));
  return word;
}

std::string argumentName(size_t index, const std::string& name) {
  const std::string number = "argument " + std::to_string(index);
  return name.empty() ? number : number + ", '" + name + "'";
}

std::string memberName(size_t index, const ArgField& field) {
  return (field.name.empty() ? "the member at byte " + std::to_string(field.offset)
                             : "member '" + field.name + "'") +
         " of argument " + std::to_string(index);
}

} // namespace

std::vector<GivenPointer> givenPointers(const embed::KernelBlob& blob, const mneme_launch& launch) {
  std::vector<GivenPointer> pointers;
  const auto add = [&](const void* place, size_t sizeBytes, std::string name, bool isMember) {
    if (const uint64_t address = wordAt(place, sizeBytes))
      pointers.push_back({address, std::move(name), isMember});
  };
  for (size_t index = 0; index < blob.args.size(); ++index) {
    const KernelArg& arg = blob.args[index];
    const auto* bytes = static_cast<const std::byte*>(launch.args[index]);
    if (arg.kind == ArgKind::Pointer)
      add(bytes, arg.sizeBytes, argumentName(index, arg.name), false);
    else if (arg.fields)
      for (const ArgField& field : *arg.fields)
        if (field.kind == ArgKind::Pointer)
          add(bytes + field.offset, field.sizeBytes, memberName(index, field), true);
  }
  return pointers;
}

/// The system looks, so that a wrong address is no fault.
bool isHostReadable(uint64_t address) noexcept {
  char byte = 0;
  iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1)
    return true;
  return errno != EFAULT && isHostMemory(address, 1); // it lets nobody look
}

} // namespace mneme::record
