// Says what is wrong and counts it.
#pragma once

#include <cmath>
#include <iostream>
#include <type_traits>

#ifdef TEST_MLIR
inline const char* const kBackend = "mlir";
#else
inline const char* const kBackend = "llvm";
#endif

inline int Failures = 0;

template <typename T, typename U> void check(const char* What, T Found, U Expected) {
  bool IsEqual = Found == static_cast<T>(Expected);
  if constexpr (std::is_floating_point_v<T>)
    IsEqual = IsEqual || std::fabs(Found - Expected) <= 1e-5 * std::fabs(Expected);
  if (IsEqual)
    return;
  std::cout << What << ": " << Found << " instead of " << Expected << std::endl;
  ++Failures;
}

inline int report() {
  std::cout << (Failures ? "wrong" : "all as expected") << std::endl;
  return Failures != 0;
}
