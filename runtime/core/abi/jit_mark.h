// Room core/abi: a mark of the JIT interface (include/proteus) on one argument of a kernel or host
// function, whose content becomes a constant. C; written by passes/, read by the JIT.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The numbers of proteus::RuntimeConstantType, which programs write in annotations; from 100 on
/// they are our own.
enum mneme_constant_type {
  MNEME_CONSTANT_NONE = 0,
  MNEME_CONSTANT_BOOL = 1,
  MNEME_CONSTANT_INT8 = 2,
  MNEME_CONSTANT_INT32 = 3,
  MNEME_CONSTANT_INT64 = 4,
  MNEME_CONSTANT_FLOAT = 5,
  MNEME_CONSTANT_DOUBLE = 6,
  MNEME_CONSTANT_LONG_DOUBLE = 7,
  MNEME_CONSTANT_POINTER = 8,
  MNEME_CONSTANT_STATIC_ARRAY = 9,
  MNEME_CONSTANT_VECTOR = 10,
  MNEME_CONSTANT_ARRAY = 11,
  MNEME_CONSTANT_OBJECT = 12,
  MNEME_CONSTANT_INT16 = 100,
  MNEME_CONSTANT_HALF = 101,
  /// A member of a structure that is passed by value (mneme_arg_value).
  MNEME_CONSTANT_MEMBER = 102,
};

enum mneme_jit_mark_flags {
  /// The content is the argument itself (a scalar, a struct passed by value); otherwise the memory
  /// that the argument, a pointer, leads to.
  MNEME_JIT_MARK_BY_VALUE = 1,
  /// The argument with the number of elements is unsigned.
  MNEME_JIT_MARK_UNSIGNED_COUNT = 2,
};

typedef struct mneme_jit_mark {
  uint32_t argument;     ///< 0-based, of the function in LLVM IR
  int32_t type;          ///< enum mneme_constant_type
  int32_t elementType;   ///< of arrays and vectors; else MNEME_CONSTANT_NONE
  int32_t countArgument; ///< of arrays: argument that holds the number of elements; -1: `count`
  uint64_t sizeBytes;    ///< of the value, the object, or one element of an array
  uint64_t count;        ///< elements of an array; else 1
  uint32_t countBytes;   ///< size of the argument that holds the number
  uint32_t flags;        ///< enum mneme_jit_mark_flags
} mneme_jit_mark;

#ifdef __cplusplus
}
#endif
