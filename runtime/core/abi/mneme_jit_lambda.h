// Room core/abi: values with which programs register lambdas (proteus::jit_variable and
// register_lambda). libmneme_rt keeps them; libmneme_jit reads them at every call. C, append only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_LAMBDA_VALUE_BYTES 16

typedef struct mneme_lambda_field {
  uint32_t slot;   ///< number of the field in the closure type
  uint32_t offset; ///< in bytes
  int32_t type;    ///< enum mneme_constant_type
  uint32_t sizeBytes;
  unsigned char value[MNEME_LAMBDA_VALUE_BYTES];
} mneme_lambda_field;

/// The values of one registration, ascending by slot. Never changes and is never freed; equal
/// contents of one lambda share an object.
typedef struct mneme_lambda_values {
  const struct mneme_lambda_values* older;
  uint64_t fieldCount;
  mneme_lambda_field fields[];
} mneme_lambda_values;

/// A closure type. Never freed.
typedef struct mneme_lambda {
  const char* type;                  ///< demangled
  const mneme_lambda_values* values; ///< read it atomically; null until it is registered
  const mneme_lambda_values* all;    ///< every content so far; read it atomically
  struct mneme_lambda* next;
} mneme_lambda;

#pragma GCC visibility push(default)

/// A value that the calling thread is about to put into a closure.
void mneme_jit_lambda_value(int slot, int offset, int32_t type, const void* value,
                            size_t sizeBytes);
/// Registers a closure of `type` with the values passed since the last registration, except those
/// it does not contain. Without any value the type keeps its values.
void mneme_jit_register_lambda(const char* type, const void* closure, size_t sizeBytes);
/// Returns the entry of `type`, which is made if there is none; null if there is no memory.
const mneme_lambda* mneme_jit_find_lambda(const char* type);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
