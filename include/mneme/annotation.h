/* What a program tells mneme about its device buffers, as a C interface. C++ programs use
 * mneme/MnemeAnnotation.hpp.
 *
 * The functions are weak: in a program that is not linked with libmneme_rt they are null. There,
 * libmneme_rt's own do nothing; while recording, the recorder's take their place. */
#ifndef MNEME_ANNOTATION_H
#define MNEME_ANNOTATION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_METADATA_VERSION 1u

/* How the content of one buffer is compared after a replay. */
typedef struct mneme_ptr_metadata {
  uint32_t version;       /* MNEME_METADATA_VERSION */
  uint8_t builtin;        /* element type, mneme::BuiltinDType */
  uint8_t threshold_kind; /* mneme::ThresholdKind */
  uint8_t norm;           /* mneme::Norm */
  uint8_t reserved;
  double threshold;
  const char* tag; /* UTF-8, or null; copied by mneme_set_metadata_for_ptr */
} mneme_ptr_metadata;

/* `ptr` is the address an allocation function of the vendor returned. Each returns 1 when done, 0
 * when nobody records or the address is not the start of a live allocation. Thread-safe. */
__attribute__((weak)) int mneme_set_metadata_for_ptr(const void* ptr,
                                                     const mneme_ptr_metadata* metadata);
/* The tag stays valid until the metadata of `ptr` is set again or erased. */
__attribute__((weak)) int mneme_get_metadata_for_ptr(const void* ptr, mneme_ptr_metadata* metadata);
__attribute__((weak)) int mneme_erase_metadata_for_ptr(const void* ptr);

/* The same of `bytes` bytes from `begin` on, anywhere in a live allocation, until it is freed.
 * Another call for the same bytes replaces it; what is set for the whole allocation holds for the
 * rest. Returns 0, and says why in the recorder's messages, for bytes that are not in one
 * allocation, that are no whole number of elements, or that overlap others with metadata. */
__attribute__((weak)) int mneme_set_metadata_for_region(const void* begin, size_t bytes,
                                                        const mneme_ptr_metadata* metadata);

#ifdef __cplusplus
}
#endif

#endif
