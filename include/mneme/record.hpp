// Marks the parts of a run that are to be recorded. C++11, no dependency; a program without
// libmneme_rt pays a test of a pointer.
#pragma once

#include "mneme/record.h"

namespace mneme {

/// While it lives, launches are recorded if the process is (mneme/record.h):
///
///     mneme::recording scope("dir", "softmax.*");
///     step();
class recording {
public:
  explicit recording(const char* directory = "", const char* kernels = "")
      : section_(mneme_record_begin ? mneme_record_begin(directory, kernels) : 0) {}
  ~recording() {
    if (section_ > 0 && mneme_record_end)
      mneme_record_end(section_);
  }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

private:
  long long section_;
};

} // namespace mneme
