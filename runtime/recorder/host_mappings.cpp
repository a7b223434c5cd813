#include "runtime/recorder/host_mappings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme::record {
namespace {

constexpr size_t kPageBytes = 4096;

/// Takes a hexadecimal number and the sign behind it off the text.
std::optional<uint64_t> takeNumber(std::string_view& text, char behind) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind)
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

std::string readMaps() {
  std::string text;
  const UniqueFd file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  char part[16384];
  for (ssize_t count = 0; file && (count = read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(count));
  return text;
}

/// Returns how many bytes were read; 0 if the first is gone.
size_t readParts(iovec here, std::span<const iovec> there) {
  const ssize_t count = process_vm_readv(getpid(), &here, 1, there.data(), there.size(), 0);
  if (count < 0 && errno != EFAULT)
    throw Error(ErrorCode::Unsupported,
                systemMessage("the system does not let memory of the host be read", errno));
  return count > 0 ? static_cast<size_t>(count) : 0;
}

} // namespace

std::optional<Mapping> mappingOf(std::string_view line) {
  const auto begin = takeNumber(line, '-');
  const auto end = begin ? takeNumber(line, ' ') : std::nullopt;
  if (!end || *end <= *begin || line.size() < 5)
    return std::nullopt;
  Mapping mapping{*begin, *end, line[0] == 'r', line[1] == 'w', line[3] == 's', ""};
  for (int field = 0; field < 4; ++field) { // access, offset, device, inode
    const size_t space = line.find(' ');
    if (space == std::string_view::npos)
      return mapping;
    line.remove_prefix(space + 1);
  }
  const size_t name = line.find_first_not_of(' ');
  if (name != std::string_view::npos)
    mapping.name = line.substr(name);
  return mapping;
}

std::vector<Mapping> hostMappings() {
  const std::string text = apart(readMaps);
  std::vector<Mapping> mappings;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n');
    if (auto mapping = mappingOf(rest.substr(0, end)))
      mappings.push_back(std::move(*mapping));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return mappings;
}

const Mapping* mappingAt(std::span<const Mapping> mappings, uint64_t address) noexcept {
  const auto next = std::ranges::upper_bound(mappings, address, {}, &Mapping::begin);
  return next != mappings.begin() && address < std::prev(next)->end ? &*std::prev(next) : nullptr;
}

int hostReadRefusal() noexcept {
  std::byte source{}, read{};
  iovec here{&read, sizeof read}, there{&source, sizeof source};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 ? errno : 0;
}

size_t readHost(uint64_t address, std::span<std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    iovec here{bytes.data() + done, bytes.size() - done};
    iovec there{reinterpret_cast<void*>(address + done), bytes.size() - done};
    const size_t count = readParts(here, {&there, 1});
    if (count == 0)
      break;
    done += count;
  }
  return done;
}

size_t readHostAt(std::span<const uint64_t> addresses, std::span<std::byte> bytes) {
  if (addresses.empty())
    return 0;
  const size_t each = bytes.size() / addresses.size();
  std::vector<iovec> there;
  for (const uint64_t address : addresses)
    there.push_back({reinterpret_cast<void*>(address), each});
  return readParts({bytes.data(), each * addresses.size()}, there) / each;
}

void copyHost(uint64_t address, std::span<std::byte> bytes) {
  for (size_t done = 0; done < bytes.size();) {
    done += readHost(address + done, bytes.subspan(done));
    if (done == bytes.size())
      return;
    const size_t toNextPage = kPageBytes - (address + done) % kPageBytes;
    const size_t gone = std::min(toNextPage, bytes.size() - done);
    std::memset(bytes.data() + done, 0, gone);
    done += gone;
  }
}

} // namespace mneme::record
