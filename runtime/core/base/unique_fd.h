// Room core/base: ownership of one file descriptor, in processes that share descriptors with an
// application.
#pragma once

#include <sys/types.h>

namespace mneme {

/// Owns one file descriptor. An application may close descriptors it did not open (daemons do, in a
/// loop) and may then have its own files under their numbers. So the identity of the opened file is
/// remembered, and a number that belongs to another file by now is neither returned nor closed.
///
/// Where descriptors must be shared with an application (see own_descriptors.h), it has a high
/// number: the application expects to get the low ones.
///
/// Move-only; not thread-safe; functions never throw and leave errno alone.
class UniqueFd {
public:
  UniqueFd() = default;
  /// Takes over a descriptor from open(), pipe() and the like; negative: none.
  explicit UniqueFd(int raw) noexcept;
  UniqueFd(UniqueFd&& other) noexcept;
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();

  /// Returns the number, to be used at once and not kept. Returns -1 if there is none, or if the
  /// number belongs to another file now: system calls then fail with EBADF.
  int get() const noexcept;
  /// Whether it was given a descriptor. The application may have closed it since.
  explicit operator bool() const noexcept { return raw_ >= 0; }

private:
  int raw_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Makes UniqueFd use high numbers from now on.
void keepDescriptorsHigh() noexcept;

} // namespace mneme
