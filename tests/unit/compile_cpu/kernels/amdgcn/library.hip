#include "device.h"

extern "C" {
__device__ float __ocml_sin_f32(float);
__device__ double __ocml_exp_f64(double);
__device__ float __ocml_pow_f32(float, float);
__device__ float __ocml_pown_f32(float, int);
__device__ float __ocml_sqrt_f32(float);
__device__ float __ocml_rint_f32(float);
__device__ float __ocml_rsqrt_f32(float);
__device__ float __ocml_fmax_f32(float, float);
__device__ double __ocml_add_rtz_f64(double, double);
__device__ float __ocml_sincos_f32(float, __attribute__((address_space(5))) float*);
__device__ float __ocml_frexp_f32(float, __attribute__((address_space(5))) int*);
__device__ u64 __ockl_printf_begin(u64);
__device__ u64 __ockl_printf_append_args(u64, u32, u64, u64, u64, u64, u64, u64, u64, u32);
__device__ u64 __ockl_printf_append_string_n(u64, const char*, u64, u32);
__device__ u64 __ockl_fprintf_stderr_begin();
__device__ u64 __ockl_hostcall_preview(u32, u64);
__device__ void __assert_fail(const char*, const char*, u32, const char*);
__device__ u64 __ockl_dm_alloc(u64);
__device__ void __ockl_dm_dealloc(u64);
}
extern "C" __constant__ const char __oclc_daz_opt;

extern "C" __global__ void math(const float* in, double* out) {
  u32 i = threadX();
  float x = in[i];
  double* mine = out + 24 * i;
  float cosine;
  int exponent;
  mine[0] = __ocml_sin_f32(x);
  mine[1] = __ocml_exp_f64(double(x));
  mine[2] = __ocml_pow_f32(x, 2.5f);
  mine[3] = __ocml_sqrt_f32(x);
  mine[4] = __ocml_rint_f32(x);
  mine[5] = __ocml_rsqrt_f32(x);
  mine[6] = __ocml_fmax_f32(x, 0.75f);
  mine[7] = __ocml_add_rtz_f64(x, 1e-30);
  mine[8] = __ocml_sincos_f32(x, (__attribute__((address_space(5))) float*)&cosine);
  mine[9] = cosine;
  mine[10] = __ocml_frexp_f32(x, (__attribute__((address_space(5))) int*)&exponent);
  mine[11] = exponent;
  mine[12] = __builtin_amdgcn_rcpf(x);
  mine[13] = __builtin_amdgcn_fractf(x);
  mine[14] = __builtin_amdgcn_frexp_mantf(x);
  mine[15] = __builtin_amdgcn_frexp_expf(x);
  mine[16] = __builtin_amdgcn_fmed3f(x, 1.0f, 2.0f);
  mine[17] = __builtin_amdgcn_classf(x, 0x100); // positive and normal
  mine[18] = __builtin_amdgcn_ldexpf(x, 3);
  mine[19] = __builtin_amdgcn_sinf(x);
  mine[20] = __oclc_daz_opt ? 1 : x / 3.0f;
  mine[21] = x * 3.0f + 1e-7f; // never fused
}

extern "C" __global__ void prints(int value, double number) {
  u64 print = __ockl_printf_begin(0);
  print = __ockl_printf_append_string_n(print, "value %d, %5.2f, %s\n", 20, 0);
  union {
    double number;
    u64 bits;
  } slot = {number};
  print = __ockl_printf_append_args(print, 2, u64(value), slot.bits, 0, 0, 0, 0, 0, 0);
  __ockl_printf_append_string_n(print, "text", 5, 1);
}

extern "C" __global__ void asserts(const int* value) {
  if (*value != 3)
    __assert_fail("*value == 3", "library.hip", 12, "asserts");
}

extern "C" __global__ void traps(const int* value) {
  if (*value != 3)
    __builtin_trap();
}

extern "C" __global__ void callsHost(u64* out) { *out = __ockl_hostcall_preview(1, 2); }

extern "C" __global__ void heap(u64* out) {
  u64* memory = (u64*)__ockl_dm_alloc(64);
  memory[3] = 42 + threadX();
  out[threadX()] = memory[3];
  __ockl_dm_dealloc(u64(memory));
}

typedef float four __attribute__((ext_vector_type(4)));
extern "C" __global__ void matrix(four* out) {
  *out = __builtin_amdgcn_mfma_f32_4x4x1f32(1.0f, 2.0f, *out, 0, 0, 0);
}

extern "C" __global__ void assembly(u32* out) {
  u32 value = out[0];
  asm volatile("; keeps the value in place" : "+v"(value));
  out[0] = value + 1;
}
extern "C" __global__ void instruction(u32* out) {
  u32 value;
  asm volatile("v_mov_b32 %0, 7" : "=v"(value));
  out[0] = value;
}

extern "C" __global__ void integerPower(const float* bases, const int* exponents, float* out) {
  u32 t = threadX();
  out[t] = __ocml_pown_f32(bases[t], exponents[t]);
}
