// Room core/abi: names shared by the compiler and the loaders of its images.
#pragma once

#include <string>

namespace mneme {

/// The kernel of a request for the CPU whose modules have none. Its image serves to read initial
/// values, not to be launched.
inline constexpr char kVariablesKernel[] = "__mneme_variables";

/// The kernel of a request that stands for all of them: the modules are the blobs of a program's
/// unit, and the image is to take the place of the code that the unit was built with. It defines
/// the unit's device variables and holds no blobs. Only for "sm_NN".
inline constexpr char kUnitsOwnCode[] = "__mneme_unit";

/// The 8-byte variable in constant memory that holds the address of device variable `name` in
/// images compiled with address 0 for it (mneme_global_place). Characters that PTX does not allow
/// in names are written as `$` and two hexadecimal digits.
inline std::string placeVariable(const std::string& name) {
  std::string variable = "__mneme_place_";
  for (const char letter : name) {
    const bool isPlain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                         (letter >= '0' && letter <= '9') || letter == '_';
    if (isPlain) {
      variable += letter;
      continue;
    }
    constexpr const char* kDigits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(letter);
    variable += {'$', kDigits[code >> 4], kDigits[code & 15]};
  }
  return variable;
}

} // namespace mneme
