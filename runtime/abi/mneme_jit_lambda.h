// Room abi: values that programs register lambdas with (proteus::jit_variable and register_lambda).
// libmneme_rt keeps them; libmneme_jit reads them at every call. C, append only.
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

/// What one registration brought, ascending by slot. Never changes and is never freed; equal
/// contents of one lambda are one object.
typedef struct mneme_lambda_values {
  const struct mneme_lambda_values* older;
  uint64_t fieldCount;
  mneme_lambda_field fields[];
} mneme_lambda_values;

/// A closure type. Never freed.
typedef struct mneme_lambda {
  const char* type;                  ///< demangled
  const mneme_lambda_values* values; ///< to be read atomically; null until it is registered
  const mneme_lambda_values* all;    ///< every content there was; to be read atomically
  struct mneme_lambda* next;
} mneme_lambda;

#pragma GCC visibility push(default)

/// A value that the calling thread is about to put into a closure.
void mneme_jit_lambda_value(int slot, int offset, int32_t type, const void* value,
                            size_t sizeBytes);
/// The closure, of `type`, has the values that came since the last registration, but for those it
/// does not hold. Without any the type keeps the values it had.
void mneme_jit_register_lambda(const char* type, const void* closure, size_t sizeBytes);
/// The entry of `type`, which is made if there is none; null without memory.
const mneme_lambda* mneme_jit_find_lambda(const char* type);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
