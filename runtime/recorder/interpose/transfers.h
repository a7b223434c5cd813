// Room recorder: functions of the vendors that copy or fill memory, one line each.
#pragma once

#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

/// Takes the place of the vendor's function `name`, which takes arguments of these types and
/// returns a status.
#define MNEME_TRANSFER(name, ...)                                                                  \
  MNEME_TRANSFER_OF(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1)(name, __VA_ARGS__)
/// The same for two functions with the same arguments; the second uses the per-thread default
/// stream.
#define MNEME_TRANSFERS(name, perThread, ...)                                                      \
  MNEME_TRANSFER(name, __VA_ARGS__) MNEME_TRANSFER(perThread, __VA_ARGS__)

#define MNEME_TRANSFER_OF(a, b, c, d, e, f, g, h, i, count, ...) MNEME_TRANSFER_##count
#define MNEME_TRANSFER_1(name, A)                                                                  \
  MNEME_RECORD_API int name(A a) { return transfer<name>(#name, a); }
#define MNEME_TRANSFER_2(name, A, B)                                                               \
  MNEME_RECORD_API int name(A a, B b) { return transfer<name>(#name, a, b); }
#define MNEME_TRANSFER_3(name, A, B, C)                                                            \
  MNEME_RECORD_API int name(A a, B b, C c) { return transfer<name>(#name, a, b, c); }
#define MNEME_TRANSFER_4(name, A, B, C, D)                                                         \
  MNEME_RECORD_API int name(A a, B b, C c, D d) { return transfer<name>(#name, a, b, c, d); }
#define MNEME_TRANSFER_5(name, A, B, C, D, E)                                                      \
  MNEME_RECORD_API int name(A a, B b, C c, D d, E e) {                                             \
    return transfer<name>(#name, a, b, c, d, e);                                                   \
  }
#define MNEME_TRANSFER_6(name, A, B, C, D, E, F)                                                   \
  MNEME_RECORD_API int name(A a, B b, C c, D d, E e, F f) {                                        \
    return transfer<name>(#name, a, b, c, d, e, f);                                                \
  }
#define MNEME_TRANSFER_7(name, A, B, C, D, E, F, G)                                                \
  MNEME_RECORD_API int name(A a, B b, C c, D d, E e, F f, G g) {                                   \
    return transfer<name>(#name, a, b, c, d, e, f, g);                                             \
  }
#define MNEME_TRANSFER_8(name, A, B, C, D, E, F, G, H)                                             \
  MNEME_RECORD_API int name(A a, B b, C c, D d, E e, F f, G g, H h) {                              \
    return transfer<name>(#name, a, b, c, d, e, f, g, h);                                          \
  }
#define MNEME_TRANSFER_9(name, A, B, C, D, E, F, G, H, I)                                          \
  MNEME_RECORD_API int name(A a, B b, C c, D d, E e, F f, G g, H h, I i) {                         \
    return transfer<name>(#name, a, b, c, d, e, f, g, h, i);                                       \
  }
