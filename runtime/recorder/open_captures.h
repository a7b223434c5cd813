// Room recorder: how many streams the program is capturing into graphs.
#pragma once

namespace mneme::record {

void captureBegan() noexcept;
/// Call it after the end of a capture, with any `status`, which is returned.
int captureEnded(int status) noexcept;
/// Whether any stream is being captured: nothing may be synchronised meanwhile.
bool isCapturingAny() noexcept;

} // namespace mneme::record
