/* Which parts of a run are recorded, as a C interface. C++ programs use mneme/record.hpp.
 *
 * The functions are weak: in a program that is not linked with libmneme_rt they are null. There,
 * libmneme_rt's own do nothing; while recording, the recorder's take their place.
 *
 * A program that calls them is recorded in its sections only, whichever thread launches.
 * `mneme record --no-sections` records all of it. */
#ifndef MNEME_RECORD_H
#define MNEME_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a section. `directory` is where the recording goes if `mneme record` was given no
 * directory and nothing is recorded yet: one run has one recording. Null or "" leaves that as it
 * is. `kernels` is what `mneme record --kernels` takes, null or "" for every kernel. Sections may
 * overlap: a launch is recorded if one that is open wants it.
 *
 * Returns the section's number; 0 if this process does not record; -1, with a message on stderr, if
 * `kernels` is not a regular expression or the directory cannot be made: then there is no section.
 * Thread-safe. */
__attribute__((weak)) long long mneme_record_begin(const char* directory, const char* kernels);
/* Ends a section, from any thread. Leaves alone what is not the number of an open section. */
__attribute__((weak)) void mneme_record_end(long long section);

#ifdef __cplusplus
}
#endif

#endif
