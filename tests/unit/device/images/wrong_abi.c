#include "image.h"

static void run_block(mneme_cpu_context* c) { (void)c; }

EXPORT const mneme_cpu_image_header mneme_cpu_image = {
    .abi = 99,
    .flags = MNEME_CPU_IMAGE_LOOP,
    .kernelName = "wrong_abi",
    .services = &services,
    .run_block = run_block,
};
