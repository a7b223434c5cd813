// Room core/embed: reads what the passes embedded. Depends on base; no LLVM, no vendor library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/argument.h"
#include "runtime/core/abi/jit_mark.h"
#include "runtime/core/abi/source_place.h"

namespace mneme::embed {

struct KernelGlobal {
  std::string name;
  uint64_t sizeBytes = 0;
  uint64_t alignBytes = 0;
  bool isConstant = false;
  bool isDefined = true; ///< false: defined in another translation unit (relocatable device code)
  bool holdsFunctions =
      false; ///< starts with addresses of functions in it (tables, vtables, cells)
};

/// Where an argument holds a closure.
struct ClosurePlace {
  uint32_t argument = 0;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  bool isPointee = false; ///< the argument is the closure's address
};

/// A function of a marked kernel that is the call operator of a closure.
struct CallOperator {
  std::string type;                 ///< the closure's, demangled
  std::string function;             ///< mangled
  std::vector<ClosurePlace> places; ///< empty if unknown
};

/// One embedded kernel (or, with an empty `kernel`, one module of shared device code).
struct KernelBlob {
  std::string kernel; ///< mangled name
  std::string demangled;
  uint64_t staticHash = 0;
  uint64_t codeHash = 0; ///< the same for equal code of other names; 0: unknown
  SourcePlace place;
  std::string arch; ///< "sm_90", "gfx90a"
  std::string triple;
  std::vector<KernelArg> args;
  std::vector<KernelGlobal> globals;
  std::vector<std::string> undefined;
  /// What a module defines for other units, as sorted names; none: an earlier release's.
  std::optional<std::vector<std::string>> offered;
  bool callsPointers = false; ///< some function is called through a pointer
  /// If so: vtables and other constants with functions of the unit, which objects may point to.
  std::vector<KernelGlobal> tables;
  /// The values that become constants in a kernel that is compiled at run time.
  std::optional<std::vector<mneme_jit_mark>> marks;
  std::vector<CallOperator> lambdas;
  uint64_t sharedBytes = 0;
  uint32_t maxThreads = 0;
  uint32_t minBlocks = 0;
  std::string metadataJson;       ///< as embedded, for tools that need more
  std::vector<std::byte> bitcode; ///< decompressed LLVM bitcode
  /// Without IR: the code as the program gave it to its driver, and what that is (code_image.h).
  std::shared_ptr<const std::vector<std::byte>> image;
  std::string imageForm;   ///< empty: there is IR
  bool isCodeRead = false; ///< the kernel was found in it, so what it reads is known

  /// A name to read: the demangled one; where that is very long, the place of the body if known, as
  /// "heat.cpp:24".
  std::string shownName() const;

  /// \throws Error{ArtifactCorrupt} unless the bytes are a complete, undamaged blob.
  static KernelBlob parse(std::span<const std::byte> bytes);
};

/// Returns the marked host functions of a program, from the section with their blobs, in order; the
/// first one if names are equal. Only tools use this.
/// \throws Error{ArtifactCorrupt} on damaged blobs
std::vector<KernelBlob> readHostFunctions(std::span<const std::byte> section);

} // namespace mneme::embed
