/* A loop image: out[i] = i * factor; the mode asks for a misdeed instead. */
#include "image.h"

static void run_block(mneme_cpu_context* c) {
  const uint32_t n = block_threads(c), block = block_index(c);
  uint32_t* out = ARG(c, 0, uint32_t*);
  const uint32_t mode = ARG(c, 1, uint32_t);
  if (mode == 1 && block == 3)
    *(volatile int*)0x1230 = 1;
  if (mode == 2)
    for (volatile int i = 0;; ++i) {
    }
  if (mode == 3 && block == 2)
    services->trap(c);
  if (mode == 4 && block == 1) {
    volatile int zero = 0;
    out[0] = (uint32_t)(7 / zero);
  }
  if (mode == 5)
    services->assert_fail(c, "x > 0", "file.cu", 12, "void k(int)");
  if (mode == 6) {
    struct {
      const char* text;
      int number;
      int pad;
      double real;
    } packed = {"abc", -5, 0, 2.5};
    services->vprintf(c, "block %%: <%s> %d %5.2f\n", &packed);
    return;
  }
  if (mode == 7) {
    services->vprintf(c, "%s\n", &(const char*){(const char*)0x10});
    return;
  }
  if (mode == 8 && block == 2)
    *((volatile char*)c->shared + (100 << 10)) = 1;
  if (mode == 9 && block == 2)
    *((volatile char*)c->shared - 8) = 1;
  for (uint32_t i = 0; i < n; ++i)
    out[block * n + i] += (block * n + i) * 3;
}

static const uint64_t argSizes[] = {8, 4};

EXPORT const mneme_cpu_image_header mneme_cpu_image = {
    .abi = MNEME_CPU_IMAGE_ABI,
    .flags = MNEME_CPU_IMAGE_LOOP,
    .kernelName = "loop",
    .argCount = 2,
    .argSizes = argSizes,
    .services = &services,
    .run_block = run_block,
};
