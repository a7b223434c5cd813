// The readers of files nobody vouches for, each as one function over bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mneme::fuzz {

enum class Answer { Accepted, Refused };

/// Reads everything the bytes describe. mneme::Error is an answer; anything else is a finding and
/// propagates.
using Reader = Answer (*)(std::span<const std::byte> bytes);

struct NamedReader {
  std::string name; ///< "snapshot", "record", "blob", "image"
  Reader read;
};

const std::vector<NamedReader>& readers();

/// Puts a file beside those that are read.
void provide(const char* name, std::span<const std::byte> bytes);

} // namespace mneme::fuzz
