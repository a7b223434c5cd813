// Room emulator/lowering: systems of linear inequalities over integers. Internal to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace mneme::compile::cpu::in_step {

/// constant + sum of factors times variables >= 0. Variable 0 is the constant.
using Inequality = std::map<unsigned, int64_t>;

/// False where they contradict each other. True says nothing: it may be too much work to find out.
/// Adds to `work` about how many numbers were looked at.
bool mayHold(const std::vector<Inequality>& inequalities, uint64_t& work);

} // namespace mneme::compile::cpu::in_step
