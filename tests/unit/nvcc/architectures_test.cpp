#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/nvcc/architectures.h"

using namespace mneme::nvcc;

using Names = std::vector<std::string>;

TEST_CASE("a GPU gets code of its own or, unknown, PTX of the newest architecture below it") {
  const Targets own = targetsFor({80, 90}, 130);
  CHECK(own.machine == Names{"80", "90"});
  CHECK(own.ptx.empty());
  const Targets newer = targetsFor({121}, 120);
  CHECK(newer.machine == Names{"90"});
  CHECK(newer.ptx == Names{"90"});
}

TEST_CASE("without a GPU, and with one too old for the toolkit, every GPU from 8.0 on is served") {
  for (const auto& gpus : {std::vector<unsigned>{}, std::vector<unsigned>{35}}) {
    const Targets targets = targetsFor(gpus, 120);
    CHECK(targets.machine == Names{"80", "90"});
    CHECK(targets.ptx == Names{"90"});
  }
  const Targets targets = targetsFor({}, 130);
  CHECK(targets.machine.size() == targets.ptx.size() + 1);
  CHECK(targets.ptx.back() == targets.machine.back());
}

TEST_CASE("toolkits know what they know") {
  CHECK(knownArchitectures(120).front() == 50);
  CHECK(knownArchitectures(120).back() == 90);
  CHECK(knownArchitectures(130).front() == 75);
}

TEST_CASE("-gencode in every spelling") {
  for (const char* text :
       {"arch=compute_80,code=[sm_80,compute_80]", "arch=compute_80,code=\"sm_80,compute_80\"",
        "arch=compute_80,code=sm_80,compute_80", "arch=compute_80,code='sm_80,compute_80'"}) {
    Targets targets;
    addGenerateCode(targets, text);
    CHECK(targets.machine == Names{"80"});
    CHECK(targets.ptx == Names{"80"});
  }
  Targets targets;
  addGenerateCode(targets, "arch=compute_80,code=sm_86");
  addGenerateCode(targets, "arch=compute_90a,code=lto_90a");
  CHECK(targets.machine == Names{"86", "90a"});
  CHECK(targets.ptx.empty());
  CHECK(targets.isForLinkTime);
  for (const char* text : {"arch=compute_80", "code=sm_80", "arch=compute_80,code=90", "sm_80"})
    CHECK_THROWS_AS(addGenerateCode(targets, text), mneme::Error);
}

TEST_CASE("-arch with and without -code") {
  Targets real, ptx, both;
  addArchitecture(real, "sm_90", {}, 130);
  CHECK(real.machine == Names{"90"});
  CHECK(real.ptx == Names{"90"});
  addArchitecture(ptx, "compute_80", {}, 130);
  CHECK(ptx.machine.empty());
  CHECK(ptx.ptx == Names{"80"});
  addArchitecture(both, "compute_80", {"sm_80,sm_86", "compute_80"}, 130);
  CHECK(both.machine == Names{"80", "86"});
  CHECK(both.ptx == Names{"80"});
  CHECK_THROWS_AS(addArchitecture(both, "native", {"sm_80"}, 130), mneme::Error);
  CHECK_THROWS_AS(addArchitecture(both, "ampere", {}, 130), mneme::Error);
}

TEST_CASE("clang makes machine code wherever it makes PTX, and PTX only where it is wanted") {
  CHECK(clangOptions({{"80"}, {"90"}}) == Names{"--offload-arch=sm_80", "--offload-arch=sm_90",
                                                "--no-cuda-include-ptx=all",
                                                "--cuda-include-ptx=sm_90"});
  CHECK(clangOptions({}).empty());
}

TEST_CASE("CMake's lists are read and written") {
  const Targets targets = targetsOfList("80;86-real,90-virtual", 130);
  CHECK(targets.machine == Names{"80", "86"});
  CHECK(targets.ptx == Names{"80", "90"});
  CHECK(cmakeList(targets) == "80;86-real;90-virtual");
  CHECK(targetsOfList("native", 130).isNative);
  CHECK(targetsOfList("all-major", 120).machine == Names{"50", "60", "70", "80", "90"});
  CHECK_THROWS_AS(targetsOfList("ampere", 130), mneme::Error);
}
