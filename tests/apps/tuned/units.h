// What the two units of the program share.
#pragma once

extern __device__ int shared;
extern __device__ int rows[16];
extern __constant__ int factor;

__device__ int combine(int value, int index);

void changeThere(int by);
void runThere(int* data, int count);
