// Files that configurations name by path and content: "/opt/passes.so@0123456789abcdef".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mneme {

struct PinnedFile {
  std::string path;
  std::optional<uint64_t> contentHash; ///< if the text says it
};

/// The path and the hash in a text.
PinnedFile pinnedFileIn(std::string_view text);

/// The hash of the present content; nothing if the file cannot be read.
std::optional<uint64_t> hashOfFile(const std::string& path);

/// The text for a file: its absolute path, "@", and the hash of its content as 16 digits, so that
/// a file that has changed is another one.
/// \throws Error{InvalidArgument} "there is no `what` 'path'"; Error{IoFailed} if it cannot be read
std::string pinnedText(const std::string& path, const std::string& what);

} // namespace mneme
