// Room jit/tuned: walks through the text of a tuned-kernels file and passes on one piece at a time.
// A file may hold many kernels with many variants, whose JSON needs much more memory than the
// result.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace mneme::tuned {

/// Receives the pieces, in the order of the text. An exception ends the walk.
class Visitor {
public:
  virtual ~Visitor() = default;
  /// Variants follow. If the key is repeated, this is called again and the last list counts.
  virtual void beginVariants() = 0;
  /// An element of the array "Variants" in "Mneme" of the next kernel.
  virtual void variant(size_t index, nlohmann::json value) = 0;
  /// A kernel without its variants: their array, if there is one, is empty.
  virtual void kernel(const std::string& symbol, nlohmann::json value) = 0;
};

/// Visits a file's kernels. Time and memory grow with the text alone, and nothing recurses.
/// \throws Error{ArtifactCorrupt} beginning with `place` if `text` is not a JSON object, or is
/// nested more deeply than any file of ours.
void walkDocument(const std::string& text, const std::string& place, Visitor& visitor);

} // namespace mneme::tuned
