/* Hand-written kernel images: what the compiler makes of a kernel, in C. */
#pragma once

#include <stddef.h>

#include "runtime/core/abi/cpu_image.h"

#define EXPORT __attribute__((visibility("default")))
#define FULL 0xffffffffu

static const mneme_cpu_services* services;

/* Argument `i` of type T. */
#define ARG(context, i, T) (*(T*)(context)->launch->args[i])

static inline uint32_t block_index(const mneme_cpu_context* c) {
  const uint32_t* g = c->launch->grid;
  return c->blockId[0] + g[0] * (c->blockId[1] + g[1] * c->blockId[2]);
}

static inline uint32_t block_threads(const mneme_cpu_context* c) {
  const uint32_t* b = c->launch->block;
  return b[0] * b[1] * b[2];
}

static inline uint32_t thread_index(const mneme_cpu_context* c) {
  return c->warp * MNEME_CPU_WARP_SIZE + c->lane;
}
