// What nvcc offers every CUDA source without an #include, and clang does not: included by
// mneme-nvcc before all else. Functions here are for the host, where clang has those of devices.
#pragma once

#ifdef __CUDACC__

// Cooperative groups have clusters where a compiler says that it knows them.
#if __clang_major__ >= 22 && !defined(_CG_CLUSTER_INTRINSICS_AVAILABLE)
#define _CG_CLUSTER_INTRINSICS_AVAILABLE
#endif

#include <cassert>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <math.h> // isnan() and its like without std::
#include <new>
#include <utility>

#include "nvcc_intrinsics.h" // beside it: this header is included by its path

// NOLINTBEGIN: the names are CUDA's.
static inline int min(int a, int b) { return a < b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned min(int a, unsigned b) {
  return min(static_cast<unsigned>(a), static_cast<unsigned>(b));
}
static inline unsigned min(unsigned a, int b) {
  return min(static_cast<unsigned>(a), static_cast<unsigned>(b));
}
static inline long min(long a, long b) { return a < b ? a : b; }
static inline unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
static inline unsigned long min(long a, unsigned long b) {
  return min(static_cast<unsigned long>(a), static_cast<unsigned long>(b));
}
static inline unsigned long min(unsigned long a, long b) {
  return min(static_cast<unsigned long>(a), static_cast<unsigned long>(b));
}
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline unsigned long long min(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
static inline unsigned long long min(long long a, unsigned long long b) {
  return min(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
}
static inline unsigned long long min(unsigned long long a, long long b) {
  return min(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
}
static inline float min(float a, float b) { return fminf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline unsigned max(int a, unsigned b) {
  return max(static_cast<unsigned>(a), static_cast<unsigned>(b));
}
static inline unsigned max(unsigned a, int b) {
  return max(static_cast<unsigned>(a), static_cast<unsigned>(b));
}
static inline long max(long a, long b) { return a > b ? a : b; }
static inline unsigned long max(unsigned long a, unsigned long b) { return a > b ? a : b; }
static inline unsigned long max(long a, unsigned long b) {
  return max(static_cast<unsigned long>(a), static_cast<unsigned long>(b));
}
static inline unsigned long max(unsigned long a, long b) {
  return max(static_cast<unsigned long>(a), static_cast<unsigned long>(b));
}
static inline long long max(long long a, long long b) { return a > b ? a : b; }
static inline unsigned long long max(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}
static inline unsigned long long max(long long a, unsigned long long b) {
  return max(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
}
static inline unsigned long long max(unsigned long long a, long long b) {
  return max(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
}
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }
static inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
static inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
static inline long long llmin(long long a, long long b) { return min(a, b); }
static inline long long llmax(long long a, long long b) { return max(a, b); }
static inline unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
static inline unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

// clang declares these and has no bodies of them.
static inline __attribute__((device)) double nan(const char* tag) {
  return __nv_nan(reinterpret_cast<const signed char*>(tag));
}
static inline __attribute__((device)) float nanf(const char* tag) {
  return __nv_nanf(reinterpret_cast<const signed char*>(tag));
}
// NOLINTEND

#endif
