// Code objects for AMD GPUs; no GPU is needed.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <elf.h>

#include "runtime/core/base/error.h"
#include "tests/unit/compile/kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

const char* const kScale = R"(
target triple = "amdgcn-amd-amdhsa"
@factor = addrspace(4) externally_initialized constant float 2.0, align 4
@counter = addrspace(1) externally_initialized global i32 0, align 4
@tile = internal addrspace(3) global [64 x float] poison, align 4

define amdgpu_kernel void @scale(ptr addrspace(1) %data, i32 %n) #0 {
entry:
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %inside = icmp slt i32 %thread, %n
  br i1 %inside, label %then, label %done
then:
  %place = getelementptr float, ptr addrspace(1) %data, i32 %thread
  %slot = getelementptr float, ptr addrspace(3) @tile, i32 %thread
  %value = load float, ptr addrspace(1) %place
  %factor = load float, ptr addrspace(4) @factor
  %product = fmul float %value, %factor
  store volatile float %product, ptr addrspace(3) %slot
  store float %product, ptr addrspace(1) %place
  %old = atomicrmw add ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 1 monotonic
  br label %done
done:
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { nounwind "target-cpu"="gfx90a" "target-features"="+xnack" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
)";

compile::Request scaleRequest(const std::string& target) {
  compile::Request request;
  request.modules = {bytesOf(kScale)};
  request.kernel = "scale";
  request.target = target;
  request.placedGlobals = {{"factor", 0x100000}, {"counter", 0x200000}};
  request.wantAssembly = true;
  return request;
}

/// LLVM may have been built without code generation for AMD GPUs.
bool isSkipped() {
  const bool isMissing = !contains(compile::versionJson(), "amdgpu");
  if (isMissing)
    MESSAGE("skipped: this LLVM has no AMDGPU target");
  return isMissing;
}

/// Content of the section with the IR; empty if there is none.
std::vector<std::byte> carriedIr(const std::vector<std::byte>& image) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header->e_shoff);
  const std::byte* names = image.data() + sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const std::byte* content = image.data() + sections[i].sh_offset;
    if (std::string(reinterpret_cast<const char*>(names + sections[i].sh_name)) == ".mneme.ir" &&
        !(sections[i].sh_flags & SHF_ALLOC))
      return {content, content + sections[i].sh_size};
  }
  return {};
}

nlohmann::json statisticsOf(const compile::Request& request) {
  return nlohmann::json::parse(compile::compile(request).statisticsJson);
}

} // namespace

TEST_CASE("a code object is an ELF file for the GPU, with what the kernel uses") {
  if (isSkipped())
    return;
  const compile::Result result = compile::compile(scaleRequest("gfx90a"));
  const auto* image = reinterpret_cast<const unsigned char*>(result.image.data());
  REQUIRE(result.image.size() > 64);
  CHECK(std::string(image + 1, image + 4) == "ELF");
  CHECK((image[18] | image[19] << 8) == 224); // EM_AMDGPU
  const auto used = nlohmann::json::parse(result.statisticsJson);
  CHECK(used["target_id"] == "amdgcn-amd-amdhsa--gfx90a:xnack+"); // as its functions say
  CHECK(used["wavefront_size"] == 64);
  CHECK(used["occupancy"] == 8);
  CHECK(used["shared_mem_usage"] == 256);
  CHECK(used["reg_usage"] == used["vgpr_count"]);
  CHECK(used["vgpr_count"].get<int>() > 0);
  CHECK(used["sgpr_count"].get<int>() > 0);
  CHECK(contains(result.assembly, "amdhsa_kernel scale"));
}

TEST_CASE("variables are where the program has them, constant ones too") {
  if (isSkipped())
    return;
  compile::Request request = scaleRequest("gfx90a");
  request.wantIr = true;
  const std::string ir = compile::compile(request).ir;
  CHECK_FALSE(contains(ir, "@factor"));
  CHECK_FALSE(contains(ir, "@counter"));
  CHECK(contains(ir, "i64 1048576"));
  CHECK(contains(ir, "ptr addrspace(1) inttoptr (i64 2097152")); // known to be global memory
  request.placedGlobals = {{"factor", 0}, {"counter", 0}};
  CHECK(contains(compile::compile(request).ir, "__mneme_place_counter"));
}

TEST_CASE("a target ID chooses processor and features") {
  if (isSkipped())
    return;
  CHECK(statisticsOf(scaleRequest("gfx942"))["target_id"] == "amdgcn-amd-amdhsa--gfx942");
  CHECK(statisticsOf(scaleRequest("gfx90a:sramecc+:xnack-"))["target_id"] ==
        "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
  const Failure feature = failureOf([] { compile::compile(scaleRequest("gfx90a:ecc+")); });
  CHECK(feature.code == ErrorCode::InvalidArgument);
  CHECK(contains(feature.message, "has 'ecc+'"));
  CHECK(failureOf([] { compile::compile(scaleRequest("gfx1")); }).code ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("code for waves of another size is refused") {
  if (isSkipped())
    return;
  const Failure failure = failureOf([] { compile::compile(scaleRequest("gfx1100")); });
  CHECK(failure.code == ErrorCode::Unsupported);
  CHECK(contains(failure.message, "gfx90a, whose waves have 64 threads"));
  CHECK(contains(failure.message, "--offload-arch=gfx1100"));
}

TEST_CASE("code of one vendor is not made for the other") {
  if (isSkipped())
    return;
  const Failure forNvidia = failureOf([] { compile::compile(scaleRequest("sm_90")); });
  CHECK(forNvidia.code == ErrorCode::Unsupported);
  CHECK(contains(forNvidia.message, "not for 'sm_90'"));
  const Failure forAmd = failureOf([] { compile::compile(vectorAddRequest("gfx90a")); });
  CHECK(forAmd.code == ErrorCode::Unsupported);
  CHECK(contains(forAmd.message, "not for 'gfx90a'"));
}

TEST_CASE("launch bounds and a limit of registers are followed") {
  if (isSkipped())
    return;
  compile::Request request = scaleRequest("gfx90a");
  request.setLaunchBounds = true;
  request.maxThreads = 128;
  request.minBlocksPerSm = 4;
  request.maxRegisters = 8;
  request.wantIr = true;
  const compile::Result result = compile::compile(request);
  const auto used = nlohmann::json::parse(result.statisticsJson);
  CHECK(used["max_workgroup_size"] == 128);
  CHECK(used["vgpr_count"].get<int>() <= 8);
  CHECK(contains(result.ir, "\"amdgpu-waves-per-eu\"=\"4\""));
  request.assemblerOptions = "--fmad=false";
  CHECK(failureOf([&] { compile::compile(request); }).code == ErrorCode::InvalidArgument);
}

TEST_CASE("a code object carries its IR if the environment asks for it, and the cache knows") {
  if (isSkipped())
    return;
  const TemporaryDirectory cache;
  const ScopedEnvironment directory("MNEME_CACHE_DIR", cache.path().c_str());
  CHECK(carriedIr(compile::compileCached(scaleRequest("gfx90a")).image).empty());
  const ScopedEnvironment carry("MNEME_CARRY_IR", "1");
  const compile::Result result = compile::compileCached(scaleRequest("gfx90a"));
  CHECK_FALSE(result.isFromCache);
  const std::vector<std::byte> ir = carriedIr(result.image);
  REQUIRE_FALSE(ir.empty());
  CHECK(contains(compile::irToText(ir), "amdgpu_kernel void @scale"));
  CHECK_FALSE(contains(result.assembly, ".mneme.ir"));
}

TEST_CASE("code for host, NVIDIA and AMD is made in one process, in any order") {
  if (isSkipped())
    return;
  for (int round = 0; round < 2; ++round)
    for (const char* target : {"cpu", "gfx90a", "cpu"})
      CHECK_FALSE(compile::compile(scaleRequest(target)).image.empty());
  CHECK_FALSE(compile::compile(vectorAddRequest("sm_90")).image.empty());
}

TEST_CASE("what is only there to have an address, as threadIdx of HIP's headers, is the image's") {
  if (isSkipped())
    return;
  compile::Request request;
  request.modules = {bytesOf(R"(
target triple = "amdgcn-amd-amdhsa"
@x = available_externally addrspace(4) externally_initialized constant i8 undef
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  store ptr addrspacecast (ptr addrspace(4) @x to ptr), ptr addrspace(1) %out
  ret void
}
)")};
  request.kernel = "k";
  request.target = "gfx90a";
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    request.passes = passes;
    CHECK_FALSE(compile::compile(request).image.empty());
  }
}
