// Annotations have no effect unless the program is recorded: a preloaded recorder defines the same
// symbols and takes precedence.
#pragma GCC visibility push(default)
#include "include/mneme/annotation.h"
#pragma GCC visibility pop

int mneme_set_metadata_for_ptr(const void*, const mneme_ptr_metadata*) { return 0; }

int mneme_set_metadata_for_region(const void*, size_t, const mneme_ptr_metadata*) { return 0; }

int mneme_get_metadata_for_ptr(const void*, mneme_ptr_metadata*) { return 0; }

int mneme_erase_metadata_for_ptr(const void*) { return 0; }
