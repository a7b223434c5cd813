/* What a program calls its kernel launches, as a C interface. C++ programs use mneme/label.hpp.
 *
 * The functions are weak: in a program that is not linked with libmneme_rt they are null. */
#ifndef MNEME_LABEL_H
#define MNEME_LABEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* The launches that the calling thread makes from now on have this label, inside of those that it
 * gave before. `label` is copied: UTF-8, no more than 255 bytes of it. */
__attribute__((weak)) void mneme_push_label(const char* label);
/* Takes the label back that the calling thread gave last. */
__attribute__((weak)) void mneme_pop_label(void);

#ifdef __cplusplus
}
#endif

#endif
