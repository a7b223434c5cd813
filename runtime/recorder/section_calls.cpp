// Room recorder: mneme_record_begin and mneme_record_end of the application.
#pragma GCC visibility push(default)
#include "include/mneme/record.h"
#pragma GCC visibility pop

#include "runtime/recorder/session.h"

long long mneme_record_begin(const char* directory, const char* kernels) {
  return mneme::record::Session::instance().beginSection(directory, kernels);
}

void mneme_record_end(long long section) {
  if (mneme::record::Session* session = mneme::record::Session::existing())
    session->endSection(section);
}
