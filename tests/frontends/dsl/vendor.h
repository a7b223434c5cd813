// The vendor that a program is built for, without its headers.
#pragma once

#include <cstddef>

#ifdef TEST_HIP
#define VENDOR(name) hip##name
inline const char* const kTarget = "hip";
#else
#define VENDOR(name) cuda##name
inline const char* const kTarget = "cuda";
#endif

extern "C" {
int VENDOR(MallocManaged)(void** Pointer, size_t Bytes, unsigned Flags);
int VENDOR(DeviceSynchronize)();
}

template <typename T> T* managed(size_t Count) {
  void* Pointer = nullptr;
  VENDOR(MallocManaged)(&Pointer, Count * sizeof(T), 1);
  return static_cast<T*>(Pointer);
}
