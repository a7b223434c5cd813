// Gives a name to kernel launches, by which recordings, tables and filters call them. C++11, no
// dependency; a program without libmneme_rt pays a test of a pointer.
#pragma once

#include "mneme/label.h"

namespace mneme {

/// While it lives, the launches of the thread that made it have its label:
///
///     mneme::label scope("advection");
///     advect<<<grid, block>>>(...);
///
/// Labels inside of labels are a path, and the innermost is the name.
class label {
public:
  explicit label(const char* text) {
    if (mneme_push_label)
      mneme_push_label(text);
  }
  ~label() {
    if (mneme_pop_label)
      mneme_pop_label();
  }
  label(const label&) = delete;
  label& operator=(const label&) = delete;
};

} // namespace mneme
