// Room recorder: mneme::annotate of the application, kept with the allocation it belongs to.
#pragma GCC visibility push(default)
#include "include/mneme/annotation.h"
#pragma GCC visibility pop

#include <iterator>
#include <string>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

using mneme::artifact::Annotation;
using mneme::record::CallGuard;

namespace {

Annotation annotationFrom(const mneme_ptr_metadata& metadata) {
  Annotation annotation;
  annotation.isSet = true;
  annotation.dataType = metadata.builtin;
  annotation.threshold = metadata.threshold;
  annotation.thresholdKind = metadata.threshold_kind;
  annotation.norm = metadata.norm;
  annotation.tag = metadata.tag ? metadata.tag : "";
  return annotation;
}

/// Bytes of an element of mneme::BuiltinDType.
uint64_t widthOf(uint8_t type) {
  constexpr uint8_t widths[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  return type < std::size(widths) ? widths[type] : 1;
}

std::string taggedBy(const mneme_ptr_metadata& metadata) {
  return metadata.tag && *metadata.tag ? " '" + std::string(metadata.tag) + "'" : "";
}

} // namespace

int mneme_set_metadata_for_ptr(const void* pointer, const mneme_ptr_metadata* metadata) {
  if (!pointer || !metadata || metadata->version != MNEME_METADATA_VERSION)
    return 0;
  const CallGuard guard;
  if (!guard.session())
    return 0;
  try {
    return guard.session()->memory()->annotate(pointer, annotationFrom(*metadata));
  } catch (const std::exception& error) {
    guard.session()->note(mneme::sentence("an annotation was lost: ", error.what()));
    return 0;
  }
}

int mneme_set_metadata_for_region(const void* begin, size_t bytes,
                                  const mneme_ptr_metadata* metadata) {
  if (!metadata || metadata->version != MNEME_METADATA_VERSION)
    return 0;
  const CallGuard guard;
  if (!guard.session())
    return 0;
  try {
    std::string problem;
    if (!begin || bytes == 0)
      problem = "there are none";
    else if (const uint64_t width = widthOf(metadata->builtin); bytes % width != 0)
      problem = "they are not a whole number of elements of " + std::to_string(width) + " bytes";
    else if (reinterpret_cast<uintptr_t>(begin) % width != 0)
      problem = "their address is not a multiple of " + std::to_string(width);
    else
      problem = guard.session()->memory()->annotatePart(begin, bytes, annotationFrom(*metadata));
    if (!problem.empty())
      guard.session()->note(mneme::sentence("the annotation of ", std::to_string(bytes), " bytes",
                                            taggedBy(*metadata), " is left out: ", problem));
    return problem.empty();
  } catch (const std::exception& error) {
    guard.session()->note(mneme::sentence("an annotation was lost: ", error.what()));
    return 0;
  }
}

int mneme_get_metadata_for_ptr(const void* pointer, mneme_ptr_metadata* metadata) {
  const CallGuard guard;
  if (!guard.session() || !metadata)
    return 0;
  const Annotation* annotation = guard.session()->memory()->annotationOf(pointer);
  if (!annotation)
    return 0;
  *metadata = {MNEME_METADATA_VERSION,
               annotation->dataType,
               annotation->thresholdKind,
               annotation->norm,
               0,
               annotation->threshold,
               annotation->tag.empty() ? nullptr : annotation->tag.c_str()};
  return 1;
}

int mneme_erase_metadata_for_ptr(const void* pointer) {
  const CallGuard guard;
  return guard.session() && guard.session()->memory()->annotationOf(pointer) &&
         guard.session()->memory()->annotate(pointer, {});
}
