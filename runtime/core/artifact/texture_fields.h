// Room core/artifact (internal): the field "Textures" of a recorded launch.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/core/abi/texture_object.h"
#include "runtime/core/artifact/json_fields.h"

namespace mneme::artifact {

nlohmann::json texturesToJson(const std::vector<TextureObject>& textures);

/// Reads "Textures" of a launch. \throws Error{ArtifactCorrupt} naming file and field
std::vector<TextureObject> texturesFromJson(const Fields& launch);

} // namespace mneme::artifact
