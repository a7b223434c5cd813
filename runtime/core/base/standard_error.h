// Room core/base: where messages for users go. Uses the C library only, because libmneme_rt
// contains it, too.
#pragma once

namespace mneme {

/// Remembers the file of stderr. Call it when the program is loaded, before the program can change
/// it. Keeps a second descriptor of the file with a number that the program does not use: above its
/// limit or, if it may open hundreds of files, the highest. Without such a number only the file's
/// identity is remembered.
void rememberStandardError() noexcept;

/// Returns a descriptor of the remembered file: 2 if that is still the same file, else the second
/// descriptor. Returns -1 if the program has closed both, so that nothing is written into the
/// program's own files. Returns 2 if nothing was remembered.
int standardError() noexcept;

/// Makes standardError() call another library's function instead.
void useStandardErrorOf(int (*other)()) noexcept;

} // namespace mneme
