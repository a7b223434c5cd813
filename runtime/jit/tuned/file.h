// Room jit/tuned: the tuned-kernels file, as docs/tuned-kernels.md says. Knows no kernel and no
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/abi/argument.h"
#include "runtime/jit/tuned/dims.h"

namespace mneme::tuned {

/// The launch a variant was found for, as far as the file says.
struct Match {
  std::string arch; ///< empty: unknown
  std::optional<mneme_dim3> grid, block;
  std::optional<uint64_t> sharedBytes;
  /// Arguments passed by value, no pointers: each index once, bytes never empty. Integer is what
  /// counts for how near a launch is.
  std::vector<ArgValue> args;
  /// Bytes of each listed argument by its index, pointers included where the code has no IR.
  std::vector<uint64_t> argSizes;
};

struct Guards {
  bool arch = false, grid = false, block = false, sharedBytes = false;
  std::vector<ArgPath> args; ///< all in Match::args, ascending; without an offset: all of it

  /// Whether this value of the launch has to be that of Match.
  bool cover(const ArgValue& arg) const;
};

/// One way to compile (and launch) a kernel. Fields are named after the keys of the file.
struct Variant {
  bool launchBounds = true;
  bool specializeArgs = false;
  bool saysSpecializeArgs = false; ///< where not, arguments the program marks are constants
  bool specializeDims = true;
  std::string pipeline = "default<O3>";
  bool namesPipeline = false; ///< else `pipeline` is LLVM's own for optLevel
  std::string optLevel = "3";
  /// Bounds of block and thread indices alone; nothing: as the environment says.
  std::optional<bool> boundIndices;
  uint32_t codegenOptLevel = 3;
  int64_t tunedMaxThreads = -1; ///< not positive: any
  uint32_t minBlocksPerSm = 0;
#define MNEME_CODE_NUMBER(member, key, otherwise, high, deployed, searched, devices, label, text)  \
  uint32_t member = otherwise;
#define MNEME_CODE_TEXT(member, key, deployed, option, metavar, between, label, text)              \
  std::string member;
#include "runtime/core/abi/knobs.def"
  /// Without a value, every argument that can be specialised is, and no member of a structure.
  std::optional<std::vector<ArgPath>> specializedArgs;
  Match match;
  Guards guards;
  std::optional<LaunchOverride> launch; ///< `matched` holds what Match says
  double weight = 0;
  /// Hash of the code it is for; nothing: any code.
  std::optional<uint64_t> staticHash;
  /// Hash of this code without names, if known.
  std::optional<uint64_t> codeHash;
  /// What the code is where it has no IR and a program loads it: "cubin", "ptx"; empty: it has IR.
  /// There is a staticHash then.
  std::string codeForm;
  /// Code for Match::arch in place of the program's, with zero behind it if it is PTX; null: none.
  std::shared_ptr<const std::vector<std::byte>> cubin;
  /// Where that is for the CPU device: a hash of the processor that it was made for.
  std::string processor;

  /// `otherCode` is 0 where it is unknown.
  bool isFor(uint64_t otherStatic, uint64_t otherCode) const {
    return !staticHash || *staticHash == otherStatic ||
           (otherCode != 0 && codeHash.value_or(0) == otherCode);
  }
};

/// The entry of one name. Several kernels can have it, each with code of its own.
struct Kernel {
  std::vector<Variant> variants; ///< never empty

  /// Those for this code, in the order of the file.
  std::vector<Variant> variantsFor(uint64_t staticHash, uint64_t codeHash) const;
  /// What else there is, each hash once: "8c0f4d6a1b2e3f70, 00000000000000ab".
  std::string hashesText() const;
};

/// What a file has for a kernel.
struct OfCode {
  std::vector<Variant> variants; ///< for its code
  bool hasName = false;          ///< the file has an entry of its name, perhaps for other code
  std::string otherName;         ///< of the entry that has the variants; empty: its own
};

struct File {
  std::unordered_map<std::string, Kernel> kernels; ///< by mangled name
  /// Names of kernels by their code hash.
  std::unordered_map<uint64_t, std::string> names;
  /// What was left out: one sentence for each reason, naming file, kernel and key of the first
  /// place and how many more there are.
  std::vector<std::string> warnings;
  bool needsNewerRelease = false; ///< a newer one wrote something that was left out

  /// The entry for a kernel, null if there is none: that of its name, else one that serves any code
  /// and whose name differs in its hash only.
  const Kernel* find(const std::string& name) const;
  /// The variants for a kernel: of the entry of its name, else of one with the same code.
  OfCode variantsFor(const std::string& name, uint64_t staticHash, uint64_t codeHash) const;
  /// Names, in their order, that differ from this one in the hash only. Kernels of PJ-DSL have one
  /// in their names: axpb$jit$123$, axpb.jit.123.
  std::vector<std::string> namesLike(const std::string& name) const;
};

enum class CodeKind { WithIr, WithoutIr };
/// Removes all variants for code of the other kind, and kernels without any left.
void keepOnly(File& file, CodeKind kind);

/// "axpb"; the name itself if it ends with no hash.
std::string nameWithoutHash(const std::string& name);

/// What becomes of the reference tool's keys where a value is of another kind.
enum class OtherKinds {
  AreRefused, ///< the entry makes no sense
  AreDropped, ///< the default counts, as with the reference tool, for programs written for it
};

/// `name` is what messages call the file. An entry that makes no sense costs that entry (or that
/// variant). \throws Error{ArtifactCorrupt} if the text is no JSON object at all.
File parseFile(const std::string& text, const std::string& name,
               OtherKinds otherKinds = OtherKinds::AreRefused);

/// Refuses a text of which parseFile() leaves something out; `path` is what messages call it.
/// \throws Error{ArtifactCorrupt}, Error{Unsupported} for what a newer release wrote
void checkText(const std::string& text, const std::filesystem::path& path);

/// A tuned-kernels file has no more bytes.
inline constexpr uint64_t kMaxFileBytes = 64u << 20;

/// \throws as above, and for a larger file; Error{NotFound, IoFailed} if it cannot be read.
File readFile(const std::filesystem::path& path, OtherKinds otherKinds = OtherKinds::AreRefused);

} // namespace mneme::tuned
