// The numbers that annotations give types by: "type" and "elt-type" in their JSON.
#pragma once

#include <cstdint>

namespace proteus {

enum RuntimeConstantType : int32_t {
  NONE = 0,
  BOOL = 1,
  INT8 = 2,
  INT32 = 3,
  INT64 = 4,
  FLOAT = 5,
  DOUBLE = 6,
  LONG_DOUBLE = 7,
  PTR = 8,
  STATIC_ARRAY = 9,
  VECTOR = 10,
  ARRAY = 11,
  OBJECT = 12,
  // Beyond the reference tool's:
  INT16 = 100,
  HALF = 101,
};

} // namespace proteus
