/* out[0] = counter++, out[1] = table[2], out[2] = *pointer (which points into table). */
#include "image.h"

static int* counter;
static const int* table;
static int** pointer;

static void run_block(mneme_cpu_context* c) {
  int* out = ARG(c, 0, int*);
  out[0] = (*counter)++;
  out[1] = table[2];
  out[2] = **pointer;
}

static const int tableInit[4] = {10, 20, 30, 40};
static const int counterInit = 5;
static const mneme_cpu_global globals[] = {
    {"counter", 4, 4, 0, 1, &counterInit, (void**)&counter},
    {"table", 16, 16, 1, 1, tableInit, (void**)&table},
    {"pointer", 8, 8, 0, 1, NULL, (void**)&pointer},
};
static const mneme_cpu_relocation relocations[] = {{2, 1, 0, 12}};
static const uint64_t argSizes[] = {8};

EXPORT const mneme_cpu_image_header mneme_cpu_image = {
    .abi = MNEME_CPU_IMAGE_ABI,
    .flags = MNEME_CPU_IMAGE_LOOP,
    .kernelName = "globals",
    .argCount = 1,
    .globalCount = 3,
    .relocationCount = 1,
    .argSizes = argSizes,
    .globals = globals,
    .relocations = relocations,
    .services = &services,
    .run_block = run_block,
};
