// Room base: where people's text goes. C library only, because libmneme_rt holds it too.
#pragma once

namespace mneme {

/// Remembers what stderr is: called when the program is loaded, before it can change it. A second
/// descriptor of it is kept where the program does not meet it: above those it may open, or else,
/// where it may have hundreds, at the highest. Without such a place only its identity is
/// remembered.
void rememberStandardError() noexcept;

/// The descriptor of the stderr that was remembered: 2 while that is still the same file, else the
/// second one; -1 when the program has closed both, so that nothing is written into a file of its
/// own. 2 where nothing was remembered.
int standardError() noexcept;

/// Makes standardError() ask another library's.
void useStandardErrorOf(int (*other)()) noexcept;

} // namespace mneme
