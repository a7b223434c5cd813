// Room compiler: C++ face of libmneme_compile for rooms that hold no LLVM. Opens the library next
// to the calling library on first use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/compiler/service/request.h"

namespace mneme::compile {

/// \throws Error with the compiler's own code and sentence.
Result compile(const Request& request);

/// Like compile(), but first looks for a stored image under the cache directory (MNEME_CACHE_DIR,
/// else $XDG_CACHE_HOME/mneme, else ~/.cache/mneme, else no cache) and stores the new one there.
/// Hits load no LLVM. Images used least recently go when there are more than MNEME_CACHE_BYTES. The
/// key covers the request, the library and the host CPU. Entries are written atomically and
/// checksummed; a damaged entry is compiled again; an unusable directory is no error. Works on
/// descriptors of its own (own_descriptors.h).
Result compileCached(const Request& request);

/// \throws Error{InvalidArgument} naming the offending pass. checkPassesOf() in service.h does so
/// with pass plugins.
void checkPasses(const std::string& passes);

/// JSON of mneme_compile_version().
std::string versionJson();

/// JSON of mneme_compile_pass_names().
std::string passNamesJson();

/// Textual IR of bitcode (or text), and back. \throws Error{ArtifactCorrupt} if it is not IR.
std::string irToText(const std::vector<std::byte>& ir);
std::vector<std::byte> irToBitcode(const std::vector<std::byte>& ir);

} // namespace mneme::compile
