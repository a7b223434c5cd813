// Functions and virtual functions across the units of relocatable device code.
#include "check.h"

#include "function_units.h"
#include <new>

static __device__ int rule(int x) { return x + 1000; }
struct Bird : Animal {
  __device__ int legs() const override { return 2; }
};

void makeDogs(Animal** animals, Dog* dogs, int count);
void fillRules(Rule* list);

__global__ void makeBird(Animal** animals, Bird* bird) { animals[0] = new (bird) Bird; }

__global__ void count(Animal* const* animals, int* out) {
  out[threadIdx.x] = 10 * animals[threadIdx.x]->legs() + animals[threadIdx.x]->sound(3);
}

__global__ void apply(const Rule* list, int* out) {
  const int i = threadIdx.x;
  out[i] = list[i](i) + rules[i](i);
}

__global__ void addOwn(Rule* list) {
  list[2] = offered;
  list[3] = rule;
  rules[2] = rule;
}

int main() {
  Animal** animals = nullptr;
  Bird* bird = nullptr;
  Dog* dogs = nullptr;
  Rule* list = nullptr;
  Buffer<int> out(4);
  expect(cudaMalloc(&animals, 4 * sizeof(Animal*)));
  expect(cudaMalloc(&bird, sizeof(Bird)));
  expect(cudaMalloc(&dogs, 3 * sizeof(Dog)));
  expect(cudaMalloc(&list, 4 * sizeof(Rule)));
  makeBird<<<1, 1>>>(animals, bird);
  makeDogs(animals + 1, dogs, 3);
  count<<<1, 4>>>(animals, out.device());
  expectLaunched();
  out.download();
  check(out[0] == 23, "an object of the same unit");
  check(out[1] == 49 && out[3] == 49, "objects of another unit");
  fillRules(list);
  addOwn<<<1, 1>>>(list);
  apply<<<1, 3>>>(list, out.device());
  expectLaunched();
  out.download();
  check(out[0] == 7 + 100 && out[1] == -1 + 101 && out[2] == 12 + 1002, "functions of both units");
  expect(cudaFree(animals));
  expect(cudaFree(bird));
  expect(cudaFree(dogs));
  expect(cudaFree(list));
  return finish("function_units");
}
