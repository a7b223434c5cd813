// Room core/abi: the C ABI of libmneme_compile, the only library that holds LLVM. Callers open it
// at run time through compiler/service/client.h, so nothing of LLVM is loaded until something must
// be compiled.
//
// A compilation is a pure function: modules + kernel + configuration + target -> image +
// statistics. Thread-safe. Does not affect the host process: no signal handlers, no stdout (except
// for pass plugins), no exit.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/abi/jit_mark.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_COMPILE_ABI 10u

typedef struct mneme_bytes {
  const void* data;
  size_t size;
} mneme_bytes;

/// Value of one argument for specialisation.
typedef struct mneme_arg_value {
  uint32_t index; ///< 0-based
  /// MNEME_CONSTANT_NONE: `value` is the argument itself. MNEME_CONSTANT_MEMBER: it is the member
  /// at `offset` of a structure passed by value. Otherwise `value` is the memory that the argument,
  /// a pointer, leads to, or a struct passed by value, with elements of this type (enum
  /// mneme_constant_type).
  int32_t content;
  uint32_t offset;   ///< bytes, of a member
  mneme_bytes value; ///< exactly the argument's IR store size, the member, or the content
} mneme_arg_value;

/// Value of one field of a closure that a kernel holds in an argument, or that a host function is
/// called with.
typedef struct mneme_lambda_value {
  const char* function; ///< its call operator in a kernel; null: the host function itself
  uint32_t slot;        ///< field of the closure type
  uint32_t offset;      ///< bytes
  uint32_t argument;    ///< of the kernel, where the closure is
  uint64_t place;       ///< bytes, of the closure in the argument
  mneme_bytes value;
} mneme_lambda_value;

/// The address of a device variable: uses are replaced by it and the variable is removed. Variables
/// in constant memory stay in the image, and so do all variables for the CPU, where the loader
/// places them.
///
/// Address 0 stands for "known only when the image is loaded": each function then begins by reading
/// the address from the constant `__mneme_place_<name>` (variable_names.h says how names are
/// written that PTX does not allow): 8 bytes in constant memory, visible by name
/// (cuModuleGetGlobal), zero until the loader fills it in before the first launch. An image has
/// this constant only if the kernel reaches the variable. Such an image works in every process.
/// Constants that are initialised with such an address are unsupported.
typedef struct mneme_global_place {
  const char* name;
  uint64_t address;
} mneme_global_place;

enum mneme_compile_outputs {
  /// "cpu": a shared object (cpu_image.h). "sm_NN": a cubin, or PTX text when neither nvJitLink nor
  /// ptxas is installed (the driver assembles it when it is loaded). "host": a shared object with
  /// the symbol `mneme_host_image` (mneme_jit_host.h). Without it no code is generated for a
  /// kernel; units and host functions always have an image.
  MNEME_OUTPUT_IMAGE = 1,
  MNEME_OUTPUT_IR = 2,       ///< final IR as text
  MNEME_OUTPUT_ASSEMBLY = 4, ///< final assembly (host assembly, PTX)
  MNEME_OUTPUT_INPUT_IR = 8, ///< linked IR before the pipeline, as text
  MNEME_OUTPUT_TRACE = 16,   ///< specialised values, in lines of the reference tool
  MNEME_OUTPUT_PRINTED = 32, ///< stdout of pass plugins, always available
  /// The statistics of a kernel or host function have "shape" and "code" (module/code_shape.h).
  MNEME_OUTPUT_SHAPE = 256,
  /// The statistics of a kernel have "elements" (module/elements.h).
  MNEME_OUTPUT_ELEMENTS = 512,
  MNEME_OUTPUT_LINKED_IR = 64,   ///< linked IR before anything is specialised, as text
  MNEME_OUTPUT_TIME_TRACE = 128, ///< with `timeTraceGrain`: LLVM's time trace, as JSON
  /// Nothing is made: `passes`, with the plugins, and `llvmOptions` are checked.
  MNEME_OUTPUT_CHECK = 1024,
  /// The statistics of a kernel have "reasons" (reasons/reasons.h) and "emit_time" (seconds, part
  /// of
  /// codegen_time). The code is the same.
  MNEME_OUTPUT_REASONS = 2048,
};

typedef struct mneme_compile_request {
  uint32_t abi;               ///< MNEME_COMPILE_ABI
  uint32_t outputs;           ///< mneme_compile_outputs
  const mneme_bytes* modules; ///< LLVM bitcode or textual IR, linked in order
  size_t moduleCount;
  /// Mangled name; "": the whole module is wanted. For "cpu" and "sm_NN" the image then holds all
  /// its kernels with their blobs (for "cpu" the blobs alone), for "host" its functions.
  /// kUnitsOwnCode (variable_names.h) is a request for the code of a program's unit.
  const char* kernel;
  const char* target; ///< "cpu" (this host), "cpu:<LLVM cpu name>", "sm_90", "gfx90a", or "host":
                      ///< the module is a host function's (mneme_jit_host.h), its `kernel`
  const char* passes; ///< LLVM pass pipeline, e.g. "default<O3>"
  uint32_t codegenOptLevel; ///< 0..3
  uint32_t prune;           ///< drop everything the kernel does not reach
  /// Functions except the kernel, and shared memory, become internal. Device variables stay
  /// visible: the host reads and writes them by name.
  uint32_t internalize;
  uint32_t setLaunchBounds;
  uint32_t maxThreads; ///< with setLaunchBounds; 0: threads of the block
  uint32_t minBlocksPerSm;
  uint32_t specializeDims;
  uint32_t grid[3];
  uint32_t block[3];
  const mneme_arg_value* specializedArgs;
  size_t specializedArgCount;
  const char* optionsJson; ///< the blob's "options" object, to be followed; may be null
  const mneme_global_place* placedGlobals;
  size_t placedGlobalCount;
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  uint32_t member;
#include "runtime/core/abi/knobs.def"
  uint32_t boundIndices; ///< block and thread indices are below the dimensions
  const char* symbol;    ///< name of the compiled kernel or function; null: its own
  const mneme_lambda_value* lambdaValues;
  size_t lambdaValueCount;
  /// LLVM pass plugins, for names in `passes`. With plugins, the compilation captures stdout while
  /// it runs.
  const char* const* passPlugins;
  size_t passPluginCount;
  uint32_t timeTraceGrain; ///< microseconds; 0: no time trace
  /// Only for "gfx...": 4, 5 or 6; 0: the version the module was built for.
  uint32_t codeObjectVersion;
  // The texts of knobs.def, which may be null.
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  const char* member;
#define MNEME_CODE_FILES(member, key, deployed, option, metavar, between, label, text)
#include "runtime/core/abi/knobs.def"
} mneme_compile_request;

typedef struct mneme_compile_result mneme_compile_result;

/// Compiles. Always sets *result (destroy it); returns an mneme::ErrorCode, 0 on success.
int mneme_compile(const mneme_compile_request* request, mneme_compile_result** result);

/// Returns the error message if mneme_compile failed, "" otherwise.
const char* mneme_compile_message(const mneme_compile_result* result);
/// Returns one of mneme_compile_outputs; empty if not requested.
mneme_bytes mneme_compile_output(const mneme_compile_result* result, uint32_t which);
/// JSON: {"kernel","target" (as requested), "preprocess_ir_time","opt_time","codegen_time"
/// (seconds), "obj_size","reg_usage","local_mem_usage","const_mem_usage","shared_mem_usage"
/// (bytes), "ir_hash","image_hash" (hex), "passes","target_cpu"}, and of preprocess_ir_time
/// "parse_time", "link_time", "clone_time", "extract_time" and "specialize_time"; "codegen_parts"
/// ([{"word" (how the reference tool's timers call it), "time"}]); of "host" the first two,
/// "passes" and times only. Constant bytes do not count
/// parameters. For "sm_NN" also "spill_store_bytes","spill_load_bytes","stack_bytes", "ptx_version"
/// ("8.8"), "assembler"
/// ("nvJitLink 13.0", "ptxas 13.0.88", "driver") and "assemble_time" (seconds, part of
/// codegen_time). With `mneme-opt-bisect` in the pipeline also "pass_runs": {"count","ran","last",
/// "next"} (opt_bisect.h).
const char* mneme_compile_statistics(const mneme_compile_result* result);
void mneme_compile_destroy(mneme_compile_result* result);

/// Checks a pass pipeline without compiling; returns an ErrorCode, and on failure *message (free
/// with mneme_compile_free) names the offending pass.
int mneme_compile_check_passes(const char* passes, char** message);
/// JSON {"llvm": "22.1.8", "targets": [...], "host_cpu": "...", "cache_key": "<hex>"}; static.
/// `cache_key` changes whenever generated code may change (our version, LLVM's, host CPU).
const char* mneme_compile_version(void);
/// Textual IR <-> bitcode, for tools: `wantText` 1 prints, 0 writes bitcode (both as
/// MNEME_OUTPUT_IR). Result as above. Safe for untrusted bytes: a child process reads them, because
/// damaged bitcode can crash LLVM. Pass untrusted IR through this before mneme_compile.
int mneme_compile_convert_ir(mneme_bytes input, uint32_t wantText, mneme_compile_result** result);
void mneme_compile_free(char* text);

/// *names (free with mneme_compile_free): JSON of the passes this LLVM can name in a pipeline, by
/// what they run on: {"module": [name...], "module_with_params": [[name, params]...], and so for
/// "cgscc", "function", "loopnest" and "loop"}. A key is missing if LLVM has no such passes.
/// `params` is LLVM's own description of the text between < and >: alternatives separated by
/// semicolons. Most of these passes can also be named without parameters. Returns an ErrorCode; on
/// failure *names is null.
int mneme_compile_pass_names(char** names);

#ifdef __cplusplus
}
#endif
