// Room tuned: walks through the text of a tuned-kernels file and hands over one piece at a time. A
// file may hold many kernels with many variants: what they become is small, their JSON is not.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

namespace mneme::tuned {

/// Takes the pieces, in the order of the text. May throw: that ends the walk.
class Visitor {
public:
  virtual ~Visitor() = default;
  /// Variants come, or come anew: of a key that is there twice the last one counts.
  virtual void beginVariants() = 0;
  /// An element of the array "Variants" of "Mneme" of the kernel that comes next.
  virtual void variant(size_t index, nlohmann::json value) = 0;
  /// A kernel with all it says but its variants: their array, if there is one, is empty.
  virtual void kernel(const std::string& symbol, nlohmann::json value) = 0;
};

/// Visits a file's kernels. Time and memory grow with the text alone, and nothing recurses.
/// \throws Error{ArtifactCorrupt} beginning with `place` if `text` is no JSON object, or nested
/// deeper than any file of ours.
void walkDocument(const std::string& text, const std::string& place, Visitor& visitor);

} // namespace mneme::tuned
