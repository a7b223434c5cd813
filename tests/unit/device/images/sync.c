/* Fiber image: one barrier or warp operation per mode; results go to out[global thread]. */
#include "image.h"

static _Thread_local mneme_cpu_context* current;
static void set_context(mneme_cpu_context* c) { current = c; }

static uint32_t shuffle(mneme_cpu_context* c, uint32_t mask, uint32_t mode, uint32_t v, uint32_t b,
                        uint32_t clamp) {
  uint32_t in;
  return services->shuffle(c, mask, mode, v, b, clamp, &in);
}

/* Tree reduction in shared memory, repeated: fails if barriers let anybody through early. */
static uint32_t tree_sum(mneme_cpu_context* c) {
  uint32_t* data = (uint32_t*)c->shared;
  const uint32_t n = block_threads(c), t = thread_index(c);
  uint32_t total = 0;
  for (uint32_t round = 0; round < 5; ++round) {
    data[t] = t + round;
    services->barrier(c, 0, 0);
    for (uint32_t stride = n / 2; stride > 0; stride /= 2) {
      if (t < stride)
        data[t] += data[t + stride];
      services->barrier(c, 0, 0);
    }
    total += data[0];
    services->barrier(c, 0, 0);
  }
  return total;
}

/* Odd threads leave at once, the others meet at barriers. */
static uint32_t early_exit(mneme_cpu_context* c) {
  uint32_t* counter = (uint32_t*)c->shared;
  const uint32_t t = thread_index(c);
  if (t == 0)
    *counter = 0;
  services->barrier(c, 0, 0);
  if (t % 2)
    return 1;
  ++*counter;
  services->barrier(c, 0, 0);
  return *counter;
}

static uint32_t warp_sum(mneme_cpu_context* c) {
  uint32_t v = thread_index(c);
  for (uint32_t d = 16; d > 0; d /= 2)
    v += shuffle(c, FULL, MNEME_SHFL_BFLY, v, d, 0x1f);
  return v;
}

/* Two halves of a warp shuffle at the same time under their own masks, a different number of times.
 */
static uint32_t divergent(mneme_cpu_context* c) {
  uint32_t v = c->lane;
  if (c->lane < 16) {
    for (int i = 0; i < 3; ++i)
      v = shuffle(c, 0x0000ffff, MNEME_SHFL_IDX, v, (c->lane + 1) % 16, 0x1f);
  } else {
    for (int i = 0; i < 5; ++i)
      v = shuffle(c, 0xffff0000, MNEME_SHFL_IDX, v, 16 + (c->lane + 1) % 16, 0x1f);
  }
  services->warp_sync(c, FULL);
  return v;
}

static uint32_t count_with(mneme_cpu_context* c, uint32_t mask) {
  if (c->lane % 3 == 0)
    return services->warp_reduce(c, mask, MNEME_REDUX_ADD, 1) * 1000 +
           (uint32_t)__builtin_popcount(mask);
  const uint32_t ballot = services->vote(c, mask, MNEME_VOTE_BALLOT, c->lane & 1);
  return (uint32_t)__builtin_popcount(ballot) * 1000 + (uint32_t)__builtin_popcount(mask);
}

/* Lanes enter in two branches, ask who is there, and reduce with the mask they got. */
static uint32_t active(mneme_cpu_context* c) {
  uint32_t mask;
  if (c->lane % 3 == 0) __attribute__
    ((nomerge)) mask = services->active_mask(c);
  else __attribute__
    ((nomerge)) mask = services->active_mask(c);
  return count_with(c, mask);
}

/* The same, after a compiler has merged the two calls. */
static uint32_t active_merged(mneme_cpu_context* c) {
  return count_with(c, services->active_mask(c));
}

/* One lane spins for the others, which wait for their active mask. */
static uint32_t active_spin(mneme_cpu_context* c) {
  volatile uint32_t* flag = (uint32_t*)c->shared + c->warp;
  if (c->lane == 0)
    *flag = 0;
  services->warp_sync(c, FULL);
  if (c->lane == 5) {
    while (*flag < 31)
      services->yield(c);
    return 7;
  }
  const uint32_t mask = services->active_mask(c);
  *flag += 1;
  return (uint32_t)__builtin_popcount(mask);
}

/* Producers (first warp) hand 64 items to the consumers through named barriers. */
static uint32_t named(mneme_cpu_context* c) {
  uint32_t* data = (uint32_t*)c->shared;
  if (c->warp >= 2)
    return 0;
  if (c->warp == 0)
    data[c->lane] = c->lane * 2;
  services->barrier(c, 3, 64);
  return data[c->lane];
}

static uint32_t reduce(mneme_cpu_context* c) {
  const uint32_t t = thread_index(c);
  uint32_t r = services->barrier_reduce(c, 0, MNEME_REDUCE_POPC, t % 3 == 0);
  r = r * 10 + services->barrier_reduce(c, 0, MNEME_REDUCE_AND, 1);
  r = r * 10 + services->barrier_reduce(c, 0, MNEME_REDUCE_OR, 0);
  return r * 10 + services->barrier_reduce(c, 0, MNEME_REDUCE_AND, t != 1);
}

static uint32_t match(mneme_cpu_context* c) {
  const uint32_t any = services->match_any(c, FULL, c->lane / 8);
  uint32_t equal = 9;
  const uint32_t all = services->match_all(c, FULL, 5, &equal);
  return any ^ all ^ equal;
}

/* Lanes leave the warp one after the other; the rest goes on shuffling with the full mask. */
static uint32_t leaving(mneme_cpu_context* c) {
  for (uint32_t i = 0; i < 32; ++i) {
    if (c->lane < i)
      return i;
    if (services->vote(c, FULL, MNEME_VOTE_BALLOT, 1) != (FULL << i))
      return 777;
  }
  return 32;
}

static void grid_barrier(mneme_cpu_context* c, uint32_t* counter, uint32_t target) {
  services->barrier(c, 0, 0);
  if (thread_index(c) == 0) {
    __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < target)
      services->yield(c);
  }
  services->barrier(c, 0, 0);
}

/* All blocks write, meet, and read their neighbour's value, several times. */
static uint32_t cooperative(mneme_cpu_context* c) {
  uint32_t* scratch = ARG(c, 2, uint32_t*);
  const uint32_t blocks = c->launch->grid[0], b = c->blockId[0];
  uint32_t v = b;
  for (uint32_t round = 0; round < 4; ++round) {
    if (thread_index(c) == 0)
      scratch[1 + (round % 2) * blocks + b] = v;
    grid_barrier(c, scratch, (round + 1) * blocks);
    v = scratch[1 + (round % 2) * blocks + (b + 1) % blocks];
  }
  return v;
}

/* Each block waits for the one before it. */
static uint32_t look_back(mneme_cpu_context* c) {
  uint32_t* scratch = ARG(c, 2, uint32_t*);
  const uint32_t b = c->blockId[0];
  services->barrier(c, 0, 0);
  if (thread_index(c) == 0) {
    uint32_t before = 0;
    if (b > 0)
      while ((before = __atomic_load_n(&scratch[b - 1], __ATOMIC_ACQUIRE)) == 0)
        services->yield(c);
    __atomic_store_n(&scratch[b], before + 1, __ATOMIC_RELEASE);
  }
  services->barrier(c, 0, 0);
  return scratch[b];
}

static uint32_t overflow(volatile char* above, uint32_t depth) {
  volatile char frame[2048];
  frame[depth % 2048] = above ? above[0] : 1;
  return depth == FULL ? 0 : frame[0] + overflow(frame, depth + 1);
}

static uint32_t misdeed(mneme_cpu_context* c, uint32_t mode) {
  const uint32_t t = thread_index(c);
  switch (mode) {
  case 20: /* half of the warp never comes */
    if (c->lane < 16)
      return services->vote(c, FULL, MNEME_VOTE_ANY, 1);
    services->barrier(c, 2, 0);
    return 0;
  case 21:
    services->barrier(c, 0, 0);
    if (t == 33)
      *(volatile int*)0x4560 = 1;
    services->barrier(c, 0, 0);
    return 0;
  case 22:
    services->barrier(c, 0, 0);
    return overflow(NULL, t);
  case 23:
    services->barrier(c, 0, 0);
    for (volatile int i = 0; t == 1; ++i) {
    }
    return 0;
  case 24:
    while (t == 1)
      services->yield(c);
    return 0;
  case 25:
    if (t == 2)
      services->assert_fail(c, "n < 4", "a.cu", 7, "void f()");
    services->barrier(c, 0, 0);
    return 0;
  case 26: {
    void* p = services->device_malloc(c, 100);
    *(volatile int*)p = 4;
    services->device_free(c, p);
    return services->device_malloc(c, (uint64_t)1 << 60) == NULL;
  }
  default:
    services->trap(c);
    return 0;
  }
}

static uint32_t run(mneme_cpu_context* c, uint32_t mode) {
  switch (mode) {
  case 0:
    return tree_sum(c);
  case 1:
    return early_exit(c);
  case 2:
    return warp_sum(c);
  case 3:
    return divergent(c);
  case 4:
    return active(c);
  case 5:
    return active_spin(c);
  case 6:
    return named(c);
  case 7:
    return reduce(c);
  case 8:
    return match(c);
  case 9:
    return leaving(c);
  case 10:
    return cooperative(c);
  case 11:
    return look_back(c);
  case 12:
    return shuffle(c, FULL, MNEME_SHFL_UP, c->lane, 3, (24u << 8));
  case 13:
    return shuffle(c, FULL, MNEME_SHFL_DOWN, c->lane, 3, (24u << 8) | 0x1f);
  case 14: /* an exclusive look at the context */
    services->barrier(c, 0, 0);
    return current == c ? c->threadId[0] + 100 * c->threadId[1] + 10000 * c->threadId[2] : 0;
  case 15: /* benchmark: many barriers */
    for (int i = 0; i < 1000; ++i)
      services->barrier(c, 0, 0);
    return 0;
  case 16:
    return services->warp_reduce(c, FULL, MNEME_REDUX_MIN, c->lane - 5) +
           services->warp_reduce(c, FULL, MNEME_REDUX_UMAX, c->lane);
  case 17: /* benchmark: many shuffles */
    for (uint32_t i = 0; i < 1000; ++i)
      shuffle(c, FULL, MNEME_SHFL_BFLY, i, 1, 0x1f);
    return 0;
  case 18:
    return active_merged(c);
  default:
    return misdeed(c, mode);
  }
}

static void run_thread(mneme_cpu_context* c) {
  uint32_t* out = ARG(c, 0, uint32_t*);
  const uint32_t at = block_index(c) * block_threads(c) + thread_index(c);
  out[at] = run(c, ARG(c, 1, uint32_t));
}

static const uint64_t argSizes[] = {8, 4, 8};

EXPORT const mneme_cpu_image_header mneme_cpu_image = {
    .abi = MNEME_CPU_IMAGE_ABI,
    .flags = MNEME_CPU_IMAGE_CONTEXT,
    .kernelName = "sync",
    .staticSharedBytes = 4096,
    .sharedAlignBytes = 16,
    .argCount = 3,
    .argSizes = argSizes,
    .services = &services,
    .run_thread = run_thread,
    .set_context = set_context,
};
