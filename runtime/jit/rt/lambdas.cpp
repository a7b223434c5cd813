// Keeps what lambdas were registered with. Memory comes from malloc; without any the lambda runs as
// it was built.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/abi/mneme_jit_lambda.h"

namespace {

// Fields of one closure that are marked; more than these stay variables.
constexpr size_t kMaxPending = 64;

thread_local mneme_lambda_field pending[kMaxPending];
thread_local size_t pendingCount = 0;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
mneme_lambda* lambdas = nullptr; ///< guarded by `lock`, as the entries' `values` for writing

mneme_lambda* findOrMake(const char* type) {
  for (mneme_lambda* lambda = lambdas; lambda; lambda = lambda->next)
    if (strcmp(lambda->type, type) == 0)
      return lambda;
  auto* lambda = static_cast<mneme_lambda*>(calloc(1, sizeof(mneme_lambda)));
  char* name = strdup(type); // the library that holds it may go
  if (!lambda || !name) {
    free(lambda);
    free(name);
    return nullptr;
  }
  lambda->type = name;
  lambda->next = lambdas;
  return lambdas = lambda;
}

/// Drops the values of other closures, which were never registered.
void dropOthers(const void* closure, size_t sizeBytes) {
  size_t kept = 0;
  for (size_t index = 0; index < pendingCount; ++index) {
    const mneme_lambda_field& field = pending[index];
    if (field.offset + size_t{field.sizeBytes} <= sizeBytes &&
        memcmp(static_cast<const char*>(closure) + field.offset, field.value, field.sizeBytes) == 0)
      pending[kept++] = field;
  }
  pendingCount = kept;
}

void sortPending() {
  for (size_t end = 1; end < pendingCount; ++end)
    for (size_t at = end; at > 0 && pending[at - 1].slot > pending[at].slot; --at) {
      const mneme_lambda_field later = pending[at - 1];
      pending[at - 1] = pending[at];
      pending[at] = later;
    }
}

/// The content that is pending, which is made if the lambda never had it.
const mneme_lambda_values* pendingValues(mneme_lambda& lambda) {
  const size_t bytes = pendingCount * sizeof(mneme_lambda_field);
  for (const mneme_lambda_values* values = lambda.all; values; values = values->older)
    if (values->fieldCount == pendingCount && memcmp(values->fields, pending, bytes) == 0)
      return values;
  auto* values = static_cast<mneme_lambda_values*>(malloc(sizeof(mneme_lambda_values) + bytes));
  if (!values)
    return nullptr;
  values->older = lambda.all;
  values->fieldCount = pendingCount;
  memcpy(values->fields, pending, bytes);
  __atomic_store_n(&lambda.all, values, __ATOMIC_RELEASE);
  return values;
}

} // namespace

void mneme_jit_lambda_value(int slot, int offset, int32_t type, const void* value,
                            size_t sizeBytes) {
  if (slot < 0 || offset < 0 || sizeBytes > MNEME_LAMBDA_VALUE_BYTES || pendingCount == kMaxPending)
    return;
  mneme_lambda_field& field = pending[pendingCount++];
  memset(&field, 0, sizeof field);
  field.slot = static_cast<uint32_t>(slot);
  field.offset = static_cast<uint32_t>(offset);
  field.type = type;
  field.sizeBytes = static_cast<uint32_t>(sizeBytes);
  memcpy(field.value, value, sizeBytes);
}

void mneme_jit_register_lambda(const char* type, const void* closure, size_t sizeBytes) {
  dropOthers(closure, sizeBytes);
  if (pendingCount == 0)
    return;
  sortPending();
  pthread_mutex_lock(&lock);
  if (mneme_lambda* lambda = findOrMake(type))
    if (const mneme_lambda_values* values = pendingValues(*lambda))
      __atomic_store_n(&lambda->values, values, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  pendingCount = 0;
}

const mneme_lambda* mneme_jit_find_lambda(const char* type) {
  pthread_mutex_lock(&lock);
  const mneme_lambda* lambda = findOrMake(type);
  pthread_mutex_unlock(&lock);
  return lambda;
}
