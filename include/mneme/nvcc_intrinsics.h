// Functions of nvcc's for device code that clang lacks: loads and stores with a word on caching,
// the hardware's tanh, arithmetic on two numbers at once. Included by nvcc.h.
#pragma once

#ifdef __CUDACC__

// NOLINTBEGIN: the names are CUDA's, and so are the macros' families of functions.
namespace mneme_nvcc {
template <unsigned> struct Bytes {};
template <class T> struct Same {
  typedef T Type;
};
} // namespace mneme_nvcc

// A value is moved by the instruction for its size: what it means is nothing to a cache.
#define MNEME_NVCC_LOADS(NAME, HINT)                                                               \
  namespace mneme_nvcc {                                                                           \
  namespace NAME {                                                                                 \
  static __attribute__((device)) inline void load(const void* from, void* to, Bytes<1>) {          \
    unsigned bits;                                                                                 \
    asm volatile("ld.global." HINT ".u8 %0, [%1];" : "=r"(bits) : "l"(from) : "memory");           \
    *static_cast<unsigned char*>(to) = static_cast<unsigned char>(bits);                           \
  }                                                                                                \
  static __attribute__((device)) inline void load(const void* from, void* to, Bytes<2>) {          \
    unsigned short bits;                                                                           \
    asm volatile("ld.global." HINT ".u16 %0, [%1];" : "=h"(bits) : "l"(from) : "memory");          \
    __builtin_memcpy(to, &bits, 2);                                                                \
  }                                                                                                \
  static __attribute__((device)) inline void load(const void* from, void* to, Bytes<4>) {          \
    unsigned bits;                                                                                 \
    asm volatile("ld.global." HINT ".u32 %0, [%1];" : "=r"(bits) : "l"(from) : "memory");          \
    __builtin_memcpy(to, &bits, 4);                                                                \
  }                                                                                                \
  static __attribute__((device)) inline void load(const void* from, void* to, Bytes<8>) {          \
    unsigned long long bits;                                                                       \
    asm volatile("ld.global." HINT ".u64 %0, [%1];" : "=l"(bits) : "l"(from) : "memory");          \
    __builtin_memcpy(to, &bits, 8);                                                                \
  }                                                                                                \
  static __attribute__((device)) inline void load(const void* from, void* to, Bytes<16>) {         \
    unsigned long long bits[2];                                                                    \
    asm volatile("ld.global." HINT ".v2.u64 {%0, %1}, [%2];"                                       \
                 : "=l"(bits[0]), "=l"(bits[1])                                                    \
                 : "l"(from)                                                                       \
                 : "memory");                                                                      \
    __builtin_memcpy(to, bits, 16);                                                                \
  }                                                                                                \
  }                                                                                                \
  }                                                                                                \
  template <class T> static __attribute__((device)) inline T NAME(const T* from) {                 \
    T value;                                                                                       \
    mneme_nvcc::NAME::load(from, &value, mneme_nvcc::Bytes<sizeof(T)>());                          \
    return value;                                                                                  \
  }
MNEME_NVCC_LOADS(__ldca, "ca")
MNEME_NVCC_LOADS(__ldlu, "lu")
#undef MNEME_NVCC_LOADS

#define MNEME_NVCC_STORES(NAME, HINT)                                                              \
  namespace mneme_nvcc {                                                                           \
  namespace NAME {                                                                                 \
  static __attribute__((device)) inline void store(void* to, const void* from, Bytes<1>) {         \
    const unsigned bits = *static_cast<const unsigned char*>(from);                                \
    asm volatile("st.global." HINT ".u8 [%0], %1;" : : "l"(to), "r"(bits) : "memory");             \
  }                                                                                                \
  static __attribute__((device)) inline void store(void* to, const void* from, Bytes<2>) {         \
    unsigned short bits;                                                                           \
    __builtin_memcpy(&bits, from, 2);                                                              \
    asm volatile("st.global." HINT ".u16 [%0], %1;" : : "l"(to), "h"(bits) : "memory");            \
  }                                                                                                \
  static __attribute__((device)) inline void store(void* to, const void* from, Bytes<4>) {         \
    unsigned bits;                                                                                 \
    __builtin_memcpy(&bits, from, 4);                                                              \
    asm volatile("st.global." HINT ".u32 [%0], %1;" : : "l"(to), "r"(bits) : "memory");            \
  }                                                                                                \
  static __attribute__((device)) inline void store(void* to, const void* from, Bytes<8>) {         \
    unsigned long long bits;                                                                       \
    __builtin_memcpy(&bits, from, 8);                                                              \
    asm volatile("st.global." HINT ".u64 [%0], %1;" : : "l"(to), "l"(bits) : "memory");            \
  }                                                                                                \
  static __attribute__((device)) inline void store(void* to, const void* from, Bytes<16>) {        \
    unsigned long long bits[2];                                                                    \
    __builtin_memcpy(bits, from, 16);                                                              \
    asm volatile("st.global." HINT ".v2.u64 [%0], {%1, %2};"                                       \
                 :                                                                                 \
                 : "l"(to), "l"(bits[0]), "l"(bits[1])                                             \
                 : "memory");                                                                      \
  }                                                                                                \
  }                                                                                                \
  }                                                                                                \
  template <class T>                                                                               \
  static __attribute__((device)) inline void NAME(T* to,                                           \
                                                  typename mneme_nvcc::Same<T>::Type value) {      \
    mneme_nvcc::NAME::store(to, &value, mneme_nvcc::Bytes<sizeof(T)>());                           \
  }
MNEME_NVCC_STORES(__stwb, "wb")
MNEME_NVCC_STORES(__stcg, "cg")
MNEME_NVCC_STORES(__stcs, "cs")
MNEME_NVCC_STORES(__stwt, "wt")
#undef MNEME_NVCC_STORES

// clang has these for all types but one.
static __attribute__((device)) inline unsigned long __ldcg(const unsigned long* from) {
  return __ldcg(reinterpret_cast<const unsigned long long*>(from));
}
static __attribute__((device)) inline unsigned long __ldcs(const unsigned long* from) {
  return __ldcs(reinterpret_cast<const unsigned long long*>(from));
}
static __attribute__((device)) inline unsigned long __ldcv(const unsigned long* from) {
  return __ldcv(reinterpret_cast<const unsigned long long*>(from));
}

static __attribute__((device)) inline float __tanhf(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
#define MNEME_NVCC_PAIRS(ROUNDING)                                                                 \
  static __attribute__((device)) inline float2 __fadd2_##ROUNDING(float2 a, float2 b) {            \
    return make_float2(__fadd_##ROUNDING(a.x, b.x), __fadd_##ROUNDING(a.y, b.y));                  \
  }                                                                                                \
  static __attribute__((device)) inline float2 __fmul2_##ROUNDING(float2 a, float2 b) {            \
    return make_float2(__fmul_##ROUNDING(a.x, b.x), __fmul_##ROUNDING(a.y, b.y));                  \
  }                                                                                                \
  static __attribute__((device)) inline float2 __ffma2_##ROUNDING(float2 a, float2 b, float2 c) {  \
    return make_float2(__fmaf_##ROUNDING(a.x, b.x, c.x), __fmaf_##ROUNDING(a.y, b.y, c.y));        \
  }
MNEME_NVCC_PAIRS(rn)
MNEME_NVCC_PAIRS(rz)
MNEME_NVCC_PAIRS(ru)
MNEME_NVCC_PAIRS(rd)
#undef MNEME_NVCC_PAIRS
#endif
// NOLINTEND

#endif
