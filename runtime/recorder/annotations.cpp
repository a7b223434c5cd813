// Room recorder: mneme::annotate of the application, kept with the allocation it belongs to.
#pragma GCC visibility push(default)
#include "include/mneme/annotation.h"
#pragma GCC visibility pop

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

using mneme::artifact::Annotation;
using mneme::record::CallGuard;

int mneme_set_metadata_for_ptr(const void* pointer, const mneme_ptr_metadata* metadata) {
  if (!pointer || !metadata || metadata->version != MNEME_METADATA_VERSION)
    return 0;
  const CallGuard guard;
  if (!guard.session())
    return 0;
  try {
    Annotation annotation;
    annotation.isSet = true;
    annotation.dataType = metadata->builtin;
    annotation.threshold = metadata->threshold;
    annotation.thresholdKind = metadata->threshold_kind;
    annotation.norm = metadata->norm;
    annotation.tag = metadata->tag ? metadata->tag : "";
    return guard.session()->memory()->annotate(pointer, annotation);
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
