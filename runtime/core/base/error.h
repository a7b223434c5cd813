// Room core/base: errors. Depends on nothing of ours.
#pragma once

#include <stdexcept>
#include <string>

namespace mneme {

/// What went wrong, one value per reaction a caller can have. The numbers are part of the C ABI of
/// libmneme_compile and of the Python binding; append only.
enum class ErrorCode : int {
  Ok = 0,
  InvalidArgument = 1,    ///< the caller's request is invalid (unknown pass, impossible dims)
  NotFound = 2,           ///< a file, kernel or record id does not exist
  ArtifactCorrupt = 3,    ///< a file of ours is damaged, truncated or foreign
  AddressUnavailable = 4, ///< the recorded virtual address is taken in this process
  BackendUnavailable = 5, ///< a device, driver or library is absent; the message says what to do
  OutOfRange = 6,         ///< an access outside a reservation or region
  OutOfMemory = 7,        ///< host or device memory is exhausted
  CompileFailed = 8,      ///< LLVM refused or could not translate the kernel
  DeviceFailed = 9,       ///< the device reported an error (fault, trap, assert, timeout)
  VerificationFailed = 10,
  IoFailed = 11,    ///< the operating system refused a file operation (disk full, permission)
  Unsupported = 12, ///< a construct we know and do not handle; named in the message
  Internal = 13,    ///< a bug of ours
};

/// "invalid argument", "artifact corrupt", ...; never null.
const char* errorCodeName(ErrorCode code) noexcept;

/// The one exception type of the runtime. The message is a sentence: what happened, to which thing,
/// what to do.
class [[gnu::visibility("default")]] Error : public std::runtime_error {
public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

private:
  ErrorCode code_;
};

/// Appends `strerror(errorNumber)` to `what`: "cannot open 'x.json': No such file or directory".
std::string systemMessage(const std::string& what, int errorNumber);

} // namespace mneme
