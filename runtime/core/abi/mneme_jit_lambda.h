// Room core/abi: which fields of closures become constants (proteus::jit_variable and
// register_lambda). libmneme_rt keeps them; libmneme_jit reads them, and the values from the
// closures themselves, at every call. C, append only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mneme_closure_field {
  uint32_t slot;   ///< number of the field in the closure type
  uint32_t offset; ///< in bytes
  uint32_t sizeBytes;
  uint32_t reserved;
} mneme_closure_field;

/// Written by the compiler plugin for a call of register_lambda.
typedef struct mneme_closure_note {
  const char* type; ///< demangled
  uint64_t fieldCount;
  const mneme_closure_field* fields;
  uint64_t isKnown; ///< belongs to libmneme_rt; 0 at first
} mneme_closure_note;

/// Ascending by offset, no two of one offset and size. Never changes and is never freed.
typedef struct mneme_closure_fields {
  uint64_t count;
  mneme_closure_field fields[];
} mneme_closure_fields;

/// A closure type. Never freed.
typedef struct mneme_closure {
  const char* type;
  const mneme_closure_fields* fields; ///< read it atomically; null until a lambda is registered
  struct mneme_closure* next;
} mneme_closure;

#pragma GCC visibility push(default)

/// Closures of the note's type have these fields, beside those noted before: types of different
/// units may have one name.
void mneme_jit_note_closure(mneme_closure_note* note);
/// Returns the entry of `type`, which is made if there is none; null if there is no memory.
const mneme_closure* mneme_jit_find_closure(const char* type);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
