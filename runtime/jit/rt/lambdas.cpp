// Keeps which fields of closures become constants. Memory comes from malloc; without any the lambda
// runs as it was built.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/abi/mneme_jit_lambda.h"

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
mneme_closure* closures = nullptr; ///< guarded by `lock`, as the entries' `fields` for writing

mneme_closure* findOrMake(const char* type) {
  for (mneme_closure* closure = closures; closure; closure = closure->next)
    if (strcmp(closure->type, type) == 0)
      return closure;
  auto* closure = static_cast<mneme_closure*>(calloc(1, sizeof(mneme_closure)));
  char* name = strdup(type); // the library that holds it may go
  if (!closure || !name) {
    free(closure);
    free(name);
    return nullptr;
  }
  closure->type = name;
  closure->next = closures;
  return closures = closure;
}

bool isBefore(const mneme_closure_field& left, const mneme_closure_field& right) {
  return left.offset != right.offset ? left.offset < right.offset
                                     : left.sizeBytes < right.sizeBytes;
}

bool holds(const mneme_closure_fields& all, const mneme_closure_field& field) {
  for (uint64_t index = 0; index < all.count; ++index)
    if (!isBefore(all.fields[index], field) && !isBefore(field, all.fields[index]))
      return true;
  return false;
}

void insert(mneme_closure_fields& all, const mneme_closure_field& field) {
  if (holds(all, field))
    return;
  uint64_t at = all.count++;
  for (; at > 0 && isBefore(field, all.fields[at - 1]); --at)
    all.fields[at] = all.fields[at - 1];
  all.fields[at] = field;
}

/// Returns whether the fields are in the entry now. Readers may hold the old ones, which stay.
bool add(mneme_closure& closure, const mneme_closure_note& note) {
  const uint64_t known = closure.fields ? closure.fields->count : 0;
  bool isNew = !closure.fields;
  for (uint64_t index = 0; index < note.fieldCount && !isNew; ++index)
    isNew = !holds(*closure.fields, note.fields[index]);
  if (!isNew)
    return true;
  auto* all = static_cast<mneme_closure_fields*>(calloc(
      1, sizeof(mneme_closure_fields) + (known + note.fieldCount) * sizeof(mneme_closure_field)));
  if (!all)
    return false;
  for (uint64_t index = 0; index < known; ++index)
    insert(*all, closure.fields->fields[index]);
  for (uint64_t index = 0; index < note.fieldCount; ++index)
    insert(*all, note.fields[index]);
  __atomic_store_n(&closure.fields, all, __ATOMIC_RELEASE);
  return true;
}

} // namespace

void mneme_jit_note_closure(mneme_closure_note* note) {
  if (__atomic_load_n(&note->isKnown, __ATOMIC_ACQUIRE))
    return;
  pthread_mutex_lock(&lock);
  mneme_closure* closure = findOrMake(note->type);
  if (closure && add(*closure, *note))
    __atomic_store_n(&note->isKnown, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
}

const mneme_closure* mneme_jit_find_closure(const char* type) {
  pthread_mutex_lock(&lock);
  const mneme_closure* closure = findOrMake(type);
  pthread_mutex_unlock(&lock);
  return closure;
}
