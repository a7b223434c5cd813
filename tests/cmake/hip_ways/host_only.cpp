// Calls HIP and has no device code.
#include <hip/hip_runtime_api.h>

int main() {
  int version = 0;
  return hipRuntimeGetVersion(&version) == hipSuccess && version > 0 ? 0 : 1;
}
