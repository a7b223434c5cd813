// The bulk kernels as code objects for every family of AMD's GPUs. No GPU is needed.
#include <doctest/doctest.h>

#include <string>

#include "runtime/compiler/service/client.h"
#include "runtime/devices/bulk/bulk.h"
#include "runtime/devices/bulk/launch_plan.h"
#include "runtime/devices/hip/code_object.h"

using namespace mneme;
using namespace mneme::device;

namespace {

constexpr bulk::Kernel kKernels[] = {
    bulk::hashPages,         bulk::hashAlignedPages, bulk::diffPages,     bulk::searchPages,
    bulk::copyRanges,        bulk::compareScan,      bulk::compareFloats, bulk::compareElements,
    bulk::compareFloatNorms, bulk::compareNorms,     bulk::compareGroups};

/// Targets with waves of 64 lanes (up to GFX9) and of 32 (from GFX10 on).
constexpr const char* kTargets[] = {
    "gfx90a:sramecc+:xnack-", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"};

std::vector<std::byte> compiled(const bulk::Kernel& kernel, const char* target) {
  const std::span<const std::byte> bitcode = bulkBitcode(kernel.module);
  compile::Request request;
  request.modules.emplace_back(bitcode.begin(), bitcode.end());
  request.kernel = kernel.name;
  request.target = target;
  request.setLaunchBounds = true;
  request.maxThreads = bulk::blockThreads;
  return compile::compile(request).image;
}

} // namespace

TEST_CASE("every bulk kernel becomes code for every family, in registers alone") {
  if (compile::versionJson().find("amdgpu") == std::string::npos) {
    MESSAGE("skipped: this LLVM has no AMDGPU target");
    return;
  }
  for (const char* target : kTargets)
    for (const bulk::Kernel& kernel : kKernels) {
      CAPTURE(std::string(target));
      CAPTURE(std::string(kernel.name));
      const hip::CodeObjectFacts facts = hip::readCodeObject(compiled(kernel, target), kernel.name);
      CHECK(facts.target == target);
      CHECK(facts.maxThreads == bulk::blockThreads);
      CHECK(facts.scratchBytes == 0);
      CHECK(facts.vectorRegisters > 0);
      CHECK(facts.variables.empty());
    }
}
