// The other unit of function_units: has functions of the same names that are its own.
#include "function_units.h"
#include <new>

__device__ int Dog::legs() const { return 4; }
__device__ int Dog::sound(int volume) const { return 3 * volume; }
__device__ int offered(int x) { return 5 * x + 2; }

static __device__ int rule(int x) { return x + 100; }
static __device__ int first(int) { return 7; }
static __device__ int second(int x) { return -x; }
__device__ Rule rules[3] = {rule, rule, rule};

__global__ void make(Animal** animals, Dog* dogs, int count) {
  const int i = threadIdx.x;
  if (i < count)
    animals[i] = new (&dogs[i]) Dog;
}

__global__ void fill(Rule* list) {
  list[0] = first;
  list[1] = second;
}

void makeDogs(Animal** animals, Dog* dogs, int count) { make<<<1, 32>>>(animals, dogs, count); }
void fillRules(Rule* list) { fill<<<1, 1>>>(list); }
