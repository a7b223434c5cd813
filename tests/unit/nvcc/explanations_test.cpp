#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/nvcc/explanations.h"
#include "runtime/nvcc/source_errors.h"

using namespace mneme::nvcc;

TEST_CASE("options of nvcc are told from other unknown ones") {
  const std::string text = explainOptions(
      "clang++: error: unknown argument: '-forward-unknown-to-host-compiler'\n"
      "clang++: error: unknown argument '-arch=sm_90'; did you mean '-march=sm_90'?\n"
      "clang++: error: unknown argument: '-no-such-option'\n"
      "clang++: error: unknown argument: '--extended-lambda'\n",
      "/mneme/bin");
  CHECK(text == "'-forward-unknown-to-host-compiler', '-arch=sm_90' and '--extended-lambda' are "
                "options of nvcc, which clang lacks: compile with /mneme/bin/mneme-nvcc (CMake, in "
                "a new build folder: -DCMAKE_CUDA_COMPILER=/mneme/bin/mneme-nvcc behind $(mneme "
                "config cmake-args))");
  const std::string one = explainOptions("error: unknown argument: '-restrict'\n", "/mneme/bin");
  CHECK(one.find("'-restrict' is an option of nvcc") == 0);
  CHECK(explainOptions("error: unknown argument: '-no-such-option'\n", "/mneme/bin").empty());
  CHECK(explainOptions("error: unknown argument", "/mneme/bin").empty());
}

TEST_CASE("a language that is too old for CUDA's headers is named") {
  const std::string error = "a.h:78:6: error: Thrust requires at least C++17. Define X to suppress";
  CHECK(explainLanguage(error, {"clang++", "-std=c++11", "-std=c++14", "a.cu"}, {"/cuda", 130}) ==
        "the headers of CUDA 13 (Thrust, CUB, libcu++) need C++17, and the command line says "
        "-std=c++14: say -std=c++17 there, or set NVCC_APPEND_FLAGS=-std=c++17, which mneme-nvcc "
        "adds to each command");
  CHECK(explainLanguage("error: libcu++ requires at least C++ 20.", {"-std=c++17"}, {})
            .find("need C++20") != std::string::npos);
  CHECK(explainLanguage(error, {"clang++", "a.cu"}, {}).empty());
  CHECK(explainLanguage("error: nothing", {"-std=c++14"}, {}).empty());
}

TEST_CASE("a runtime of OpenMP that clang lacks is named where it is needed") {
  const std::vector<std::string> linking = {"clang++", "-fopenmp", "a.o"};
  for (const char* error : {"ld.lld: error: unable to find library -lomp\n",
                            "/usr/bin/ld: cannot find -lomp: No such file or directory\n",
                            "a.o: undefined reference to `__kmpc_fork_call'\n"}) {
    CHECK(explainOpenMp(error, linking, "libomp.so\n").find("install libomp-") !=
          std::string::npos);
    CHECK(explainOpenMp(error, linking, "/usr/lib/libomp.so\n").empty());
    CHECK(explainOpenMp(error, {"clang++", "a.o"}, "libomp.so\n").empty());
  }
  CHECK(explainOpenMp("", linking, "libomp.so\n").empty());
  CHECK(explainOpenMp("a.o: undefined reference to `f()'\n", linking, "libomp.so\n").empty());
  CHECK(explainOpenMp("a.cu:1:2: error: no", linking, "libomp.so\n").empty());
  const std::vector<std::string> compiling = {"clang++", "-fopenmp", "-c", "a.cu"};
  CHECK(explainOpenMp("", compiling, "libomp.so\n").empty());
  CHECK(!explainOpenMp("a.cu:1:10: fatal error: 'omp.h' file not found", compiling, "libomp.so\n")
             .empty());
}

TEST_CASE("what clang does not take in a source is said of clang") {
  CHECK(explainCode("a.cu:2:22: error: expected expression\n    2 |   k<<<4, {x, y, 1}>>>(a);\n")
            .find("clang takes no braces between <<< and >>>") == 0);
  for (const char* shown : {"{x, y, 1}>>>(a);\n      |  ^\n", "k<<<n, {\n      |         ^\n"})
    CHECK(explainCode("a.cu:2:2: error: expected expression\n    2 |  " + std::string(shown))
              .find("clang takes no braces between <<< and >>>") == 0);
  for (const char* shown : {"int a[] = {1, };;\n", "if (x) { k<<<1, 2>>>(a, ); }\n",
                            "k<<<1, 2>>>(T{1}, );\n      |                   ^\n",
                            "T a{1}; P<P<P<int>>> b(;\n      |                         ^\n"})
    CHECK(explainCode("a.cu:2:2: error: expected expression\n    2 |  " + std::string(shown))
              .empty());
  CHECK(explainCode("a.cu:2:22: error: expected expression").empty());
  CHECK(explainCode("a.cu:2:7: error: expected expression\n    2 |   k << <4, 1 >> > (a);\n") ==
        "clang takes no blanks within <<< and >>>: write each in one piece");
  CHECK(explainCode(
            "a.cu:2:2: error: expected expression\n    2 |  UNROLL\n      |  ^\na.cu:1:16: note: "
            "expanded from macro 'UNROLL'\n    1 | #define UNROLL #pragma unroll\n") ==
        "clang takes no #pragma from a macro: define the macro as _Pragma(\"unroll\")");
  CHECK(explainCode("a.cu:4:2: error: initialization is not supported for __shared__ variables\n")
            .find("clang refuses variables in shared memory that have a constructor; nvcc accepts "
                  "them and does not run the constructor: declare bytes") == 0);
  CHECK(explainCode("a.cu:4:2: error: use of undeclared identifier 'a'\n").empty());
}

TEST_CASE("preprocessing writes no files") {
  using Words = std::vector<std::string>;
  CHECK(checkingWords({"clang++", "-c", "-MD", "-MF", "a.d", "-o", "a.o", "a.cu"}, "-E") ==
        Words{"clang++", "-c", "a.cu", "-E", "-w"});
  CHECK(checkingWords({"clang++", "-oa", "--", "-a.cu"}, "-E") ==
        Words{"clang++", "-E", "-w", "--", "-a.cu"});
  CHECK(checkingWords({"clang++", "@words"}, "-E").empty());
  CHECK(checkingWords({"clang++", "-x", "cuda", "-"}, "-E").empty());
}
