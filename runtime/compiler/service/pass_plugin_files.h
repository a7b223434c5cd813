// Room compiler: the files of pass plugins, as configurations name them. Loads none of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"

namespace mneme::compile {

/// The text that names a plugin in configurations: its absolute path, "@", and the hash of its
/// content as 16 digits, so that a file that has changed is another plugin.
/// \throws Error{InvalidArgument} if there is no such file, or if its path holds a ':', which
/// divides paths; Error{IoFailed} if it cannot be read
std::string passPluginText(const std::string& path);

/// The plugins of a list of such texts, divided by ':'. Where one has no hash, the file's present
/// content counts. A file that cannot be read is refused when something is compiled with it.
std::vector<PassPlugin> passPluginsIn(const std::string& text);

/// "'/opt/passes.so' and '/opt/more.so'".
std::string namesOf(const std::vector<PassPlugin>& plugins);

/// Refuses files whose content is not the one that the request is known by. One that cannot be read
/// is left to the compiler. \throws Error{InvalidArgument}
void checkUnchanged(const std::vector<PassPlugin>& plugins);

} // namespace mneme::compile
