// Attention by warps and by blocks, half precision, normalisation.
#include "attention_kernels.cu"
#include "rounding.h"

int main() {
  constexpr int kRows = 64, kWidth = 128;
  float *out = onDevice<float>(kRows * kWidth, 1), *q = onDevice<float>(kRows * kWidth, 2),
        *k = onDevice<float>(kRows * kWidth, 3), *v = onDevice<float>(kRows * kWidth, 4);
  attention<64><<<kRows / 4, 128>>>(out, q, k, v, kRows, 0.125f);
  show("attention<64>", out, kRows * 64);
  attention<128><<<kRows / 4, 128>>>(out, q, k, v, kRows, 0.088f);
  show("attention<128>", out, kRows * kWidth);
  blockAttention<<<kRows, 256, (kRows + kWidth) * sizeof(float)>>>(out, q, k, v, kRows, kWidth);
  show("blockAttention", out, kRows * kWidth);
  gelu<<<8, 128>>>(out, q, 1024);
  show("gelu", out, 1024);
  layerNorm<<<1, 32>>>(out, q, k, v, 512);
  show("layerNorm", out, 512);
}
