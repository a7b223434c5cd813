// Room core/loaded: whether launches by CUDA's shared runtime are seen where the driver gets them.
#pragma once

namespace mneme::loaded {

/// Whether the shared runtime launches by functions of the driver that are ours: kernels that mneme
/// knows nothing of are seen there, with their code.
void noteRuntimeInSight() noexcept;
bool isRuntimeInSight() noexcept;

} // namespace mneme::loaded
