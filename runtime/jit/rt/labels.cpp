// Labels of launches: each thread has its own.
#pragma GCC visibility push(default)
#include "include/mneme/label.h"
#pragma GCC visibility pop

#include <string.h>

#include "runtime/core/abi/mneme_rt.h"

namespace {

constexpr unsigned kMost = 32; ///< the recorder's kMostLabels
constexpr size_t kLongest = 255;
constexpr size_t kRoom = 1024; ///< for the labels of a thread, in bytes

/// Labels that find no room count, so that each is taken back in its turn, but have no text.
struct Labels {
  unsigned given;
  unsigned kept;
  unsigned short begins[kMost];
  unsigned short used;
  char text[kRoom];
};

thread_local Labels own;

} // namespace

void mneme_push_label(const char* label) {
  const char* const text = label ? label : "";
  size_t length = strnlen(text, kLongest);
  while (text[length] != '\0' && length > 0 && (text[length] & 0xc0) == 0x80)
    --length; // not inside of a character
  if (own.given++ != own.kept || own.kept == kMost || own.used + length + 1 > kRoom)
    return;
  own.begins[own.kept++] = own.used;
  memcpy(own.text + own.used, text, length);
  own.text[own.used + length] = '\0';
  own.used = static_cast<unsigned short>(own.used + length + 1);
}

void mneme_pop_label(void) {
  if (own.given == 0)
    return;
  if (own.given-- == own.kept)
    own.used = own.begins[--own.kept];
}

size_t mneme_rt_labels(const char** labels, size_t capacity) {
  for (size_t index = 0; index < own.kept && index < capacity; ++index)
    labels[index] = own.text + own.begins[index];
  return own.kept;
}
