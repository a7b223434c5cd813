// Room core/abi: the data that the passes put into a binary. This header holds only constants and
// plain structs, includes nothing of ours, and is shared by passes/ (writer) and embed/kernel_blob
// (reader).
#pragma once

#include <cstdint>

namespace mneme::embed {

/// Every instrumented kernel leaves one blob in the device image, as a global constant named
/// `__mneme_ir_<XXH3_64 of the blob, 16 hex digits>`. With relocatable device code each translation
/// unit leaves one more blob, `__mneme_module_<hash>`, holding the device functions and globals
/// that kernels of other units may call; its metadata has `"kernel": ""`.
///
/// A blob is: BlobHeader, metadata (UTF-8 JSON, `metadataBytes`), bitcode (zstd frame,
/// `bitcodeBytes`). Little endian. `checksum` is XXH3_64 of metadata and compressed bitcode
/// together.
///
/// Metadata:
///   { "kernel": "<mangled name>", "demangled": "...", "static_hash": "<16 hex digits>",
///     "code_hash": "<16 hex digits>",            // of kernels: whatever the functions are called
///     "place": {"file": "src/app.cu", "line": N, "end_line": N}, // of kernels: the body, if known
///     "triple": "nvptx64-nvidia-cuda", "arch": "sm_90", "clang": "22.1.8",
///     "args": [ {"name": "...", "size": bytes, "align": bytes,
///                "kind": "pointer"|"integer"|"float"|"aggregate",
///                "type": "ptr"|"i32"|"float"|"struct.S"..., "specializable": bool,
///                // of an aggregate: the members that the kernel reads, without padding
///                "fields": [ {"offset": bytes, "size": bytes,
///                             "kind": "pointer"|"integer"|"float"|"bytes", "type": ...,
///                             "name": "s.n",        // if known
///                             "specializable": bool} ]} ],
///     "globals": [ {"name": "...", "size": bytes, "align": bytes, "constant": bool,
///                   "defined": bool,
///                   "functions": true} ],        // device globals the closure refers to
///     "shared_bytes": static shared memory in bytes, "max_threads": N or 0, "min_blocks": N or 0,
///     "undefined": ["f", ...],                   // device functions to be linked from other units
///     "offers": ["f", ...],                      // of a unit's blob: what others may need
///     "calls_pointers": bool,                    // a function is called through a pointer
///     "tables": [ {"name": "...", "size": bytes} ], // then: the unit's constants with functions
///     "options": {"fp_contract": "on"|"fast"|"fast-honor-pragmas"|"off", "fast_math": bool,
///                 "flush_denormals": bool, "precise_division": bool, "precise_sqrt": bool,
///                 "opt_level": "0".."3"|"s"|"z",
///                 // the following only if they differ from the default:
///                 "relaxed_math": true,           // a part of -ffast-math
///                 "unset_locals": true,           // a local may be read before it is set
///                 "zeroed_locals": ["f: x", ...], // such locals that the passes set to zero
///                 "unrecorded_reads": ["clocks", ...], // see passes/unrecorded_reads.h
///                 "unroll_loops": bool, "interleave_loops": bool, "vectorize_loops": bool,
///                 "vectorize_slp": bool,          // if they differ from clang's for the level
///                 "own_functions": ["f", ...],    // `linkonce_odr` here, external in the program
///                 "shared_functions": {"f": [i, ...]}, // internal, also called by other kernels;
///                                                 // arguments that are equal in all calls
///                 "llvm_options": ["x=1", ...],   // options given with -mllvm
///                 "assembler_level": "0".."3",    // of ptxas, if not clang's for the level
///                 "assembler_options": ["x=1", ...]} } // options given with -Xcuda-ptxas
/// A kernel that the program marks (docs/jit.md) also has
///     "jit": {"marks": [ {"arg": i, "type": T, "element": T, "size": bytes, "count": N,
///                         "count_arg": i or -1, "count_size": bytes, "count_unsigned": bool,
///                         "by_value": bool} ],    // mneme_jit_mark, field by field
///             "lambdas": [ {"type": "main::'lambda'(int)", "function": "<mangled>"} ]}
/// where `lambdas` are the call operators of closures it reaches.
///
/// `specializable` is true iff the IR type is i1, i8, i32, i64, float, double, x86_fp80, ppc_fp128
/// or fp128. An aggregate is a by-value struct; `size` is then the size of the pointee.
///
/// "functions" marks variables whose initial values contain addresses of functions: tables,
/// vtables, and cells (ir/function_cells.h), one for each function whose address is taken.
///
/// In a kernel's bitcode a device global that this unit defines has linkage `available_externally`
/// and the flag `externally_initialized`: its storage belongs to the program, its initializer is
/// the value in a freshly loaded module. (Without the flag the program never changes it.) Functions
/// that other units could define too are `linkonce_odr`, so that the bitcode links with module
/// blobs, where such functions and globals are external. `opt_level` is "" if it is unknown. Values
/// of `type` name a struct without the percent sign.
///
/// A marked host function has a blob as well, for tools that read the program: in its section
/// kHostSection, aligned to kHostAlignment, with "arch": "host". The program itself uses only its
/// bitcode (mneme_host_function).
inline constexpr char kBlobMagic[8] = {'M', 'N', 'E', 'M', 'E', 'I', 'R', '1'};
inline constexpr uint32_t kBlobVersion = 1;
inline constexpr const char* kKernelSymbolPrefix = "__mneme_ir_";
inline constexpr const char* kModuleSymbolPrefix = "__mneme_module_";

inline constexpr const char* kHostSection = ".mneme_host";
inline constexpr uint64_t kHostAlignment = 8;
inline constexpr const char* kHostArch = "host";

struct BlobHeader {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes; ///< sizeof(BlobHeader); readers skip fields they do not know
  uint64_t staticHash;
  uint64_t metadataBytes;
  uint64_t bitcodeBytes;    ///< compressed
  uint64_t bitcodeRawBytes; ///< uncompressed
  uint64_t checksum;
};
static_assert(sizeof(BlobHeader) == 56);

} // namespace mneme::embed
