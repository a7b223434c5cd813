#include "runtime/nvcc/option_table.h"

#include <algorithm>
#include <array>

namespace mneme::nvcc {
namespace {

using enum Takes;
using enum Becomes;

constexpr std::string_view kOneRun = "clang compiles host and device code in one run";
constexpr std::string_view kOwnWords = "clang has warnings and numbers of its own";
constexpr std::string_view kWindows = "for Windows";
constexpr std::string_view kSpeed = "says how fast nvcc compiles, not what";
constexpr std::string_view kFatbinary = "clang decides how images are packed";

// In the order of NVIDIA's documentation.
constexpr std::array kOptions = {
    // What is made.
    Option{"--cuda", "-cuda", Nothing, Refused, "clang writes no .cu.cpp.ii"},
    Option{"--cubin", "-cubin", Nothing, Handled, "--cuda-device-only -c, for one architecture"},
    Option{"--fatbin", "-fatbin", Nothing, Handled, "--cuda-device-only -c --gpu-bundle-output"},
    Option{"--ptx", "-ptx", Nothing, Handled, "--cuda-device-only -S, for one architecture"},
    Option{"--optix-ir", "-optix-ir", Nothing, Refused, "clang writes no OptiX IR"},
    Option{"--ltoir", "-ltoir", Nothing, Refused, "clang writes no LTO IR of NVIDIA's"},
    Option{"--preprocess", "-E", Nothing, Handled, "-E --cuda-host-only"},
    Option{"--generate-dependencies", "-M", Nothing, Handled, "-M --cuda-host-only"},
    Option{"--generate-nonsystem-dependencies", "-MM", Nothing, Handled, "-MM --cuda-host-only"},
    Option{"--generate-dependencies-with-compile", "-MD", Nothing, Words, "-MD"},
    Option{"--generate-nonsystem-dependencies-with-compile", "-MMD", Nothing, Words, "-MMD"},
    Option{"--dependency-output", "-MF", One, Words, "-MF %"},
    Option{"--generate-dependency-targets", "-MP", Nothing, Words, "-MP"},
    Option{"--compile", "-c", Nothing, Handled, "-c"},
    Option{"--device-c", "-dc", Nothing, Handled, "-c -fgpu-rdc --offload-new-driver"},
    Option{"--device-w", "-dw", Nothing, Handled, "-c"},
    Option{"--device-link", "-dlink", Nothing, Handled,
           "--offload-link, of which the device code is kept"},
    Option{"--link", "-link", Nothing, Handled, "links, as without"},
    Option{"--lib", "-lib", Nothing, Handled, "compiles, then ar cr"},
    Option{"--run", "-run", Nothing, Handled, "links, then starts the program"},
    // Files and directories.
    Option{"--output-file", "-o", One, Handled, "-o"},
    Option{"--pre-include", "-include", List, Words, "-include %"},
    Option{"--objdir-as-tempdir", "-objtemp", Nothing, Ignored, "clang needs no such files"},
    Option{"--library", "-l", List, Words, "-l%", Joins::Anything},
    Option{"--define-macro", "-D", List, Words, "-D%", Joins::Anything},
    Option{"--undefine-macro", "-U", List, Words, "-U%", Joins::Anything},
    Option{"--include-path", "-I", List, Words, "-I%", Joins::Anything},
    Option{"--system-include", "-isystem", List, Words, "-isystem %"},
    Option{"--library-path", "-L", List, Words, "-L%", Joins::Anything},
    Option{"--output-directory", "-odir", One, Handled, "-o of each input"},
    Option{"--compiler-bindir", "-ccbin", One, Handled,
           "clang compiles host code; of an MPI compiler the directories and libraries are taken"},
    Option{"--allow-unsupported-compiler", "-allow-unsupported-compiler", Nothing, Ignored,
           "clang compiles host code"},
    Option{"--archiver-binary", "-arbin", One, Handled, "the ar of --lib"},
    Option{"--cudart", "-cudart", One, Handled,
           "shared where nothing is given; with static, recorded memory lies on a GPU where the "
           "vendor places it"},
    Option{"--cudadevrt", "-cudadevrt", One, Ignored,
           "nvlink takes of the device runtime what is called"},
    Option{"--libdevice-directory", "-ldir", One, Ignored, "clang takes the toolkit's"},
    Option{"--target-directory", "-target-dir", One, Refused,
           "clang compiles for other processors with --target and --sysroot"},
    Option{"--use-local-env", "-use-local-env", Nothing, Ignored, kWindows},
    Option{"--force-cl-env-setup", "-force-cl-env-setup", Nothing, Ignored, kWindows},
    // Compiler and linker.
    Option{"--profile", "-pg", Nothing, Words, "-Xarch_host -pg"},
    Option{"--debug", "-g", Nothing, Words, "-Xarch_host -g"},
    Option{"--device-debug", "-G", Nothing, Handled,
           "-g --cuda-noopt-device-debug -Xarch_device -O0"},
    Option{"--generate-line-info", "-lineinfo", Nothing, Words, "-Xarch_device -gline-tables-only"},
    Option{"--optimization-info", "-opt-info", List, Words, "-Rpass=%"},
    Option{"--optimize", "-O", One, Words, "-Xarch_host -O%", Joins::Anything},
    Option{"--Ofast-compile", "-Ofc", One, Ignored, kSpeed},
    Option{"--dopt", "-dopt", One, Handled, "device code is optimised in spite of -G"},
    Option{"--dlink-time-opt", "-dlto", Nothing, Handled, "-foffload-lto, with relocatable code"},
    Option{"--lto", "-lto", Nothing, Handled, "as -dlto"},
    Option{"--gen-opt-lto", "-gen-opt-lto", Nothing, Ignored, kSpeed},
    Option{"--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit", One, Words,
           "-ftemplate-backtrace-limit=%"},
    Option{"--ftemplate-depth", "-ftemplate-depth", One, Words, "-ftemplate-depth=%"},
    Option{"--no-exceptions", "-noeh", Nothing, Words, "-Xarch_host -fno-exceptions"},
    Option{"--shared", "-shared", Nothing, Words, "-shared"},
    Option{"--x", "-x", One, Handled, "-x of each source; cu is clang's cuda"},
    Option{"--std", "-std", One, Handled, "-std= of each source that is not C"},
    Option{"--no-host-device-initializer-list", "-nohdinitlist", Nothing, Ignored, kOneRun},
    Option{"--no-host-device-move-forward", "-nohdmoveforward", Nothing, Ignored, kOneRun},
    Option{"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", Nothing, Words,
           "-D__CUDACC_RELAXED_CONSTEXPR__"},
    Option{"--extended-lambda", "-extended-lambda", Nothing, Words, "-D__CUDACC_EXTENDED_LAMBDA__"},
    Option{"--expt-extended-lambda", "-expt-extended-lambda", Nothing, Words,
           "-D__CUDACC_EXTENDED_LAMBDA__"},
    Option{"--machine", "-m", One, Ignored, "there are 64 bits only"},
    Option{"--m64", "-m64", Nothing, Ignored, "there are 64 bits only"},
    // Options of single steps.
    Option{"--compiler-options", "-Xcompiler", List, Handled,
           "given to clang: -O, -g, -m and -f for the host alone"},
    Option{"--linker-options", "-Xlinker", List, Words, "-Xlinker %"},
    Option{"--archive-options", "-Xarchive", List, Handled, "options of ar"},
    Option{"--ptxas-options", "-Xptxas", List, Handled, "-Xcuda-ptxas, for each word"},
    Option{"--nvlink-options", "-Xnvlink", List, Handled, "-Xoffload-linker, for each word"},
    Option{"", "-Xcudafe", List, Ignored, "clang has no cudafe++"},
    Option{"", "-Xcicc", List, Ignored, "clang has no cicc"},
    Option{"", "-Xfatbin", List, Ignored, kFatbinary},
    // The driver.
    Option{"--static-global-template-stub", "-static-global-template-stub", Truth, Ignored,
           kOneRun},
    Option{"--device-entity-has-hidden-visibility", "-device-entity-has-hidden-visibility", Truth,
           Ignored, kOneRun},
    Option{"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", Nothing,
           Handled, "unknown options go to clang"},
    Option{"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", Nothing, Handled,
           "unknown options go to the linker"},
    Option{"--forward-unknown-opts", "-forward-unknown-opts", Nothing, Handled,
           "unknown options go to clang"},
    Option{"--dont-use-profile", "-noprof", Nothing, Ignored, "there is no nvcc.profile"},
    Option{"--dryrun", "-dryrun", Nothing, Handled, "prints what would be run"},
    Option{"--verbose", "-v", Nothing, Handled, "prints what is run"},
    Option{"--threads", "-t", One, Ignored, kSpeed, Joins::Number},
    Option{"--split-compile", "-split-compile", One, Ignored, kSpeed},
    Option{"--split-compile-extended", "-split-compile-extended", One, Ignored, kSpeed},
    Option{"--fdevice-syntax-only", "-fdevice-syntax-only", Nothing, Ignored, kSpeed},
    Option{"--fdevice-time-trace", "-fdevice-time-trace", One, Words, "-ftime-trace=%"},
    Option{"--keep", "-keep", Nothing, Handled, "-save-temps=cwd"},
    Option{"--keep-dir", "-keep-dir", One, Handled, "-save-temps=obj, with --keep"},
    Option{"--save-temps", "-save-temps", Nothing, Handled, "as --keep"},
    Option{"--clean-targets", "-clean", Nothing, Refused, "clang deletes no files"},
    Option{"--time", "-time", One, Ignored, "clang has -Xcompiler -ftime-trace"},
    Option{"--run-args", "-run-args", List, Handled, "arguments of --run"},
    Option{"--input-drive-prefix", "-idp", One, Ignored, kWindows},
    Option{"--dependency-drive-prefix", "-ddp", One, Ignored, kWindows},
    Option{"--drive-prefix", "-dp", One, Ignored, kWindows},
    Option{"--dependency-target-name", "-MT", One, Words, "-MT %"},
    Option{"--no-align-double", "-no-align-double", Nothing, Ignored, "there are 64 bits only"},
    Option{"--no-device-link", "-nodlink", Nothing, Handled, "no --offload-link"},
    // Code for GPUs.
    Option{"--gpu-architecture", "-arch", One, Handled, "--offload-arch and --cuda-include-ptx"},
    Option{"--gpu-code", "-code", Whole, Handled, "--offload-arch and --cuda-include-ptx"},
    Option{"--generate-code", "-gencode", Whole, Handled, "--offload-arch and --cuda-include-ptx"},
    Option{"--relocatable-device-code", "-rdc", Truth, Handled, "-fgpu-rdc --offload-new-driver"},
    Option{"--entries", "-e", List, Words, "-Xcuda-ptxas --entry=%"},
    Option{"--maxrregcount", "-maxrregcount", One, Words, "-Xcuda-ptxas --maxrregcount=%"},
    Option{"--use_fast_math", "-use_fast_math", Nothing, Handled,
           "-fgpu-flush-denormals-to-zero -fgpu-approx-transcendentals -Xarch_device "
           "-fapprox-func"},
    Option{"--ftz", "-ftz", Truth, Handled, "-fgpu-flush-denormals-to-zero"},
    Option{"--prec-div", "-prec-div", Truth, Handled,
           "-Xarch_device -fapprox-func where both are false: clang has one switch for the two"},
    Option{"--prec-sqrt", "-prec-sqrt", Truth, Handled, "as -prec-div"},
    Option{"--fmad", "-fmad", Truth, Handled, "-Xarch_device -ffp-contract=off"},
    Option{"--extra-device-vectorization", "-extra-device-vectorization", Nothing, Ignored,
           "clang's pipeline decides"},
    Option{"--default-stream", "-default-stream", One, Handled,
           "-fgpu-default-stream=per-thread, and CUDA's macro"},
    // What is printed.
    Option{"--disable-warnings", "-w", Nothing, Words, "-w"},
    Option{"--keep-device-functions", "-keep-device-functions", Nothing, Ignored,
           "clang keeps them"},
    Option{"--source-in-ptx", "-src-in-ptx", Nothing, Ignored, "clang writes no source into PTX"},
    Option{"--restrict", "-restrict", Nothing, Ignored,
           "clang knows only what pointers are declared as"},
    Option{"--Wreorder", "-Wreorder", Nothing, Words, "-Wreorder"},
    Option{"--Wdefault-stream-launch", "-Wdefault-stream-launch", Nothing, Ignored, kOwnWords},
    Option{"--Wmissing-launch-bounds", "-Wmissing-launch-bounds", Nothing, Ignored, kOwnWords},
    Option{"--Wext-lambda-captures-this", "-Wext-lambda-captures-this", Nothing, Ignored,
           kOwnWords},
    Option{"--Wno-deprecated-declarations", "-Wno-deprecated-declarations", Nothing, Words,
           "-Wno-deprecated-declarations"},
    Option{"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", Nothing, Ignored,
           kOwnWords},
    Option{"--Werror", "-Werror", List, Handled,
           "-Werror for all-warnings, -Werror=KIND for reorder and deprecated-declarations"},
    Option{"--resource-usage", "-res-usage", Nothing, Words, "-Xcuda-ptxas -v"},
    Option{"--extensible-whole-program", "-ewp", Nothing, Ignored,
           "clang has whole programs and relocatable code"},
    Option{"--no-compress", "-no-compress", Nothing, Ignored, kFatbinary},
    Option{"--qpp-config", "-qpp-config", One, Ignored, "clang compiles host code"},
    Option{"--compile-as-tools-patch", "-astoolspatch", Nothing, Refused,
           "clang makes no patches for NVIDIA's tools"},
    Option{"--list-gpu-code", "-code-ls", Nothing, Handled,
           "prints what both the toolkit and clang know"},
    Option{"--list-gpu-arch", "-arch-ls", Nothing, Handled,
           "prints what both the toolkit and clang know"},
    Option{"--display-error-number", "-err-no", Nothing, Ignored, kOwnWords},
    Option{"--no-display-error-number", "-no-err-no", Nothing, Ignored, kOwnWords},
    Option{"--diag-error", "-diag-error", List, Ignored, kOwnWords},
    Option{"--diag-suppress", "-diag-suppress", List, Ignored, kOwnWords},
    Option{"--diag-warn", "-diag-warn", List, Ignored, kOwnWords},
    Option{"--host-linker-script", "-hls", One, Ignored, "clang's objects need no such script"},
    Option{"--augment-host-linker-script", "-aug-hls", Nothing, Ignored,
           "clang's objects need no such script"},
    Option{"--relocatable-link", "-r", Nothing, Words, "-r"},
    Option{"--brief-diagnostics", "-brief-diag", Truth, Ignored, kOwnWords},
    Option{"--jump-table-density", "-jtd", One, Ignored, "clang's pipeline decides"},
    Option{"--relocatable-ptx", "-reloc-ptx", Nothing, Ignored, kFatbinary},
    Option{"--device-stack-protector", "-device-stack-protector", Truth, Ignored,
           "clang has none for GPUs"},
    Option{"--compress-mode", "-compress-mode", One, Ignored, kFatbinary},
    Option{"--frandom-seed", "-frandom-seed", One, Ignored, "nothing is random in clang's objects"},
    Option{"--sanitize", "-sanitize", One, Refused, "clang has no sanitizers for GPUs"},
    Option{"--jobserver", "-jobserver", Nothing, Ignored, kSpeed},
    Option{"--help", "-h", Nothing, Handled, "prints this table"},
    Option{"--version", "-V", Nothing, Handled, "prints the toolkit's release, as nvcc does"},
    Option{"--options-file", "-optf", List, Handled, "its words stand in its place, as @file's"},
};

} // namespace

std::span<const Option> options() noexcept { return kOptions; }

const Option* findOption(std::string_view name) noexcept {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
    return !name.empty() && (option.name == name || option.brief == name);
  });
  return found == kOptions.end() ? nullptr : &*found;
}

std::string_view fate(const Option& option) noexcept {
  switch (option.becomes) {
  case Ignored:
    return "ignored";
  case Refused:
    return "refused";
  default:
    return "taken";
  }
}

} // namespace mneme::nvcc
