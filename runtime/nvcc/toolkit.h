// Room nvcc: the CUDA toolkit, as the compiler wrappers find it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mneme::nvcc {

struct Toolkit {
  std::filesystem::path root; ///< empty where there is none
  unsigned release = 0;       ///< 10 * major + minor; 0 if unknown

  /// "-L" with the toolkit's libraries, and with stubs of the driver: the toolkit's or, where it
  /// has none, those of the prefix.
  std::vector<std::string> libraryOptions(const std::filesystem::path& prefix) const;
  /// "13.0.88": what the toolkit's own nvcc says or, without it, the release and a zero.
  std::string fullVersion() const;
};

/// The toolkit that the wrappers in `bin` use.
Toolkit findToolkit(const std::filesystem::path& bin);

/// The toolkit at this place.
Toolkit toolkitAt(const std::filesystem::path& root);

} // namespace mneme::nvcc
