// What the units of function_units have in common.
#pragma once

struct Animal {
  __device__ virtual int legs() const = 0;
  __device__ virtual int sound(int volume) const { return volume; }
};
struct Dog : Animal {
  __device__ int legs() const override;
  __device__ int sound(int volume) const override;
};

using Rule = int (*)(int);
extern __device__ Rule rules[3];
__device__ int offered(int x);
