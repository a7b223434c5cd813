#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/nvcc/command_line.h"
#include "runtime/nvcc/plan.h"

using namespace mneme::nvcc;

namespace {

/// The commands that nvcc's words become, a line each, without what is the same in all of them.
std::vector<std::string> linesOf(const std::string& words) {
  const Place place{"/m", "/t", {"/cuda", 130}, {}, true};
  std::vector<std::string> lines;
  for (const Command& command :
       makePlan(readSettings(parseCommandLine(splitWords(words)), 130), place).commands) {
    std::string line = shellText(command);
    for (const std::string& same :
         {std::string("/m/bin/"), std::string(" -Qunused-arguments"),
          std::string(" -Wno-unknown-warning-option"),
          std::string(" -isystem /m/include/mneme/cuda_wrappers -include /m/include/mneme/nvcc.h"),
          std::string(" -Xarch_device -O3"), std::string(" -Wno-pass-failed"),
          std::string(" -Wno-error=c++11-narrowing -Wno-error=register "
                      "-Wno-error=missing-template-arg-list-after-template-kw"),
          std::string(
              " -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0 -D__CUDACC_VER_BUILD__=0"),
          std::string(" -L/m/lib/driver_stubs -L/m/lib -Wl,--push-state,--as-needed -lcudart "
                      "-lmneme_rt -Wl,--pop-state")})
      if (const size_t at = line.find(same); at != std::string::npos)
        line.erase(at, same.size());
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string lineOf(const std::string& words) {
  const std::vector<std::string> lines = linesOf(words);
  return lines.empty() ? "" : lines.front();
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("sources are compiled one by one, and linked in their place") {
  CHECK(linesOf("a.cu b.cpp c.c d.o -lm -o app") ==
        Lines{"mneme-cxx -c -lm -x cuda a.cu -o /t/a.o", "mkdir -p /t/2",
              "mneme-cxx -c -lm -x c++ b.cpp -o /t/2/b.o", "mkdir -p /t/3",
              "mneme-cc -c -lm -x c c.c -o /t/3/c.o",
              "mneme-cxx /t/a.o /t/2/b.o /t/3/c.o d.o -lm -o app"});
  CHECK(linesOf("-c x/a.cu b.cu -odir out") ==
        Lines{"mneme-cxx -c -x cuda x/a.cu -o out/a.o", "mneme-cxx -c -x cuda b.cu -o out/b.o"});
  CHECK(lineOf("-x cu -c a.cpp") == "mneme-cxx -c -x cuda a.cpp -o a.o");
  CHECK(linesOf("-lib a.cu b.o -o l.a -Xarchive -v").back() == "ar -v cr l.a /t/a.o b.o");
}

TEST_CASE("the host's options are the host's, and device code is optimised whatever they say") {
  CHECK(lineOf("-c -O1 -g -Xcompiler -fopenmp,-Wall,-march=native,-m64 a.cu") ==
        "mneme-cxx -c -Xarch_host -O1 -Xarch_host -g -Xarch_host -fopenmp -Wall -Xarch_host "
        "-march=native -m64 -x cuda a.cu -o a.o");
  CHECK(lineOf("-c -O1 -Xcompiler -fopenmp -Xptxas -v a.cpp") ==
        "mneme-cxx -c -O1 -fopenmp -x c++ a.cpp -o a.o");
  CHECK(linesOf("-Xcompiler -fopenmp a.o").back() == "mneme-cxx -fopenmp a.o -o a.out");
}

TEST_CASE("options of nvcc become clang's") {
  const auto becomes = [](const std::string& given, const std::string& wanted) {
    CAPTURE(given);
    CHECK(lineOf("-c " + given + " a.cu") ==
          "mneme-cxx -c" + (wanted.empty() ? "" : " " + wanted) + " -x cuda a.cu -o a.o");
  };
  becomes("-arch=sm_90", "--offload-arch=sm_90 --no-cuda-include-ptx=all --cuda-include-ptx=sm_90");
  becomes("-gencode arch=compute_80,code=sm_80", "--offload-arch=sm_80 --no-cuda-include-ptx=all");
  becomes("-std=c++17", "-std=c++17");
  becomes("--extended-lambda", "-D__CUDACC_EXTENDED_LAMBDA__");
  becomes("-Xptxas -v,-O2", "-Xcuda-ptxas -v -Xcuda-ptxas -O2");
  becomes("--maxrregcount 32", "-Xcuda-ptxas --maxrregcount=32");
  becomes("-lineinfo", "-Xarch_device -gline-tables-only");
  becomes("-rdc=true", "-fgpu-rdc --offload-new-driver -D__CUDACC_RDC__");
  becomes("-use_fast_math", "-fgpu-flush-denormals-to-zero -fgpu-approx-transcendentals "
                            "-Xarch_device -fapprox-func");
  becomes("-ftz=true", "-fgpu-flush-denormals-to-zero");
  becomes("-prec-div=false", "");
  becomes("-prec-div=false -prec-sqrt=false", "-Xarch_device -fapprox-func");
  becomes("-use_fast_math -prec-div=true -ftz=false", "-fgpu-approx-transcendentals");
  becomes("-fmad=false", "-Xarch_device -ffp-contract=off");
  becomes("-default-stream per-thread",
          "-fgpu-default-stream=per-thread -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  becomes("-Werror all-warnings", "-Werror");
  becomes("-Werror cross-execution-space-call", "");
  becomes("-restrict -Xcudafe --diag_suppress=1 -diag-suppress 20012 -t4", "");
  becomes("-MD -MF a.d -MT a", "-MD -MF a.d -MT a");
  becomes("-forward-unknown-to-host-compiler -pthread -fpass-plugin=p.so",
          "-pthread -fpass-plugin=p.so");
  CHECK(lineOf("-c -keep a.cu") == "mneme-cxx -c -x cuda a.cu -save-temps=cwd -o a.o");
  CHECK(linesOf("-c -keep -keep-dir k a.cu -o b/a.o") ==
        Lines{"mkdir -p k", "mneme-cxx -c -x cuda a.cu -save-temps=obj -o k/a.o",
              "mv -f k/a.o b/a.o"});
  CHECK(lineOf("-c -G a.cu").find("-g --cuda-noopt-device-debug -Xarch_device -O0") !=
        std::string::npos);
}

TEST_CASE("other ends than an object") {
  CHECK(lineOf("-ptx -arch=sm_90 a.cu") ==
        "mneme-cxx -S --cuda-device-only --offload-arch=sm_90 --no-cuda-include-ptx=all "
        "--cuda-include-ptx=sm_90 -x cuda a.cu -o a.ptx");
  CHECK(lineOf("-fatbin a.cu") ==
        "mneme-cxx -c --cuda-device-only --gpu-bundle-output -x cuda a.cu -o a.fatbin");
  CHECK(lineOf("-cubin -arch=sm_90 a.ptx") == "/cuda/bin/ptxas -arch=sm_90 a.ptx -o a.cubin");
  CHECK(lineOf("-E a.cu") == "mneme-cxx -E --cuda-host-only -x cuda a.cu");
  CHECK(lineOf("-M a.cu -o a.d") == "mneme-cxx -M --cuda-host-only -x cuda a.cu -o a.d");
  CHECK(linesOf("-run a.o -run-args x,y").back() == "./a.out x y");
}

TEST_CASE("runtimes: the shared one, unless another is wanted") {
  CHECK(lineOf("a.o -cudart static").find("-lcudart_static -lrt -lpthread -ldl") !=
        std::string::npos);
  const std::string none = lineOf("a.o -cudart=none");
  CHECK(none.find("-lcudart") == std::string::npos);
  CHECK(none.starts_with("MNEME_LINK_CUDART=0 "));
}

TEST_CASE("device code is linked where there is some, and by itself") {
  CHECK(lineOf("-rdc=true -arch=sm_90 a.o").find(" --offload-link") != std::string::npos);
  CHECK(lineOf("-rdc=true -nodlink a.o").find("--offload-link") == std::string::npos);
  const std::string alone = lineOf("-dlink a.o -o d.o -Xnvlink -v");
  CHECK(alone.starts_with("MNEME_NVCC_KEEPS_DEVICE_CODE=1 mneme-cxx a.o -Xoffload-linker -v"));
  CHECK(alone.ends_with("-nostdlib --ld-path=/m/bin/mneme-nvcc -o d.o"));
}

TEST_CASE("CMake's source that asks for the compiler is told that it is nvcc, and no other") {
  CHECK(lineOf("-c CMakeCUDACompilerId.cu").find("-x c++ -D__NVCC__ -D__CUDACC__") !=
        std::string::npos);
  CHECK(lineOf("-c a.cu").find("__NVCC__") == std::string::npos);
}

TEST_CASE("what makes no sense, and what clang cannot do, is a sentence") {
  const auto says = [](const std::string& given) -> std::string {
    try {
      linesOf(given);
    } catch (const mneme::Error& failure) {
      return failure.what();
    }
    return "";
  };
  CHECK(says("-cuda a.cu") == "clang writes no .cu.cpp.ii: '-cuda'");
  CHECK(says("-foo a.cu").starts_with("unknown option '-foo'"));
  CHECK(says("-c a.cu b.cu -o x") == "-o names one file, and there are 2 sources");
  CHECK(says("") == "no input files; --help shows the options");
  CHECK(says("a.gpu") == "clang reads no such file: 'a.gpu'");
  CHECK(says("-code=sm_90 a.cu") == "-code needs an -arch");
  CHECK(says("-cudart=dynamic a.cu") == "'-cudart' has no value 'dynamic': none, shared, static");
  CHECK(says("-ptx -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 a.cu") ==
        "-ptx and -cubin are made for one architecture, and there are several");
}
