// Room base: ownership of one file descriptor, in processes whose descriptors are not ours alone.
#pragma once

#include <sys/types.h>

namespace mneme {

/// Owns one file descriptor. An application may close descriptors it did not open (daemons do, in a
/// loop) and then has files of its own under their numbers. So what was opened is remembered, and a
/// number that stands for something else by now is neither handed out nor closed.
///
/// Where descriptors are shared with an application for good (see own_descriptors.h) it lives at a
/// high number: the low ones are those the application would have been given.
///
/// Move-only; not thread-safe; functions never throw and leave errno alone.
class UniqueFd {
public:
  UniqueFd() = default;
  /// Takes over what open(), pipe() and the like returned; negative: none.
  explicit UniqueFd(int raw) noexcept;
  UniqueFd(UniqueFd&& other) noexcept;
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();

  /// The number, to be used at once and not kept; -1 when there is none or it is another file's
  /// now: system calls then fail with EBADF.
  int get() const noexcept;
  /// Whether it was given a descriptor; the application may have closed it since.
  explicit operator bool() const noexcept { return raw_ >= 0; }

private:
  int raw_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Makes UniqueFd keep to high numbers from here on.
void keepDescriptorsHigh() noexcept;

} // namespace mneme
