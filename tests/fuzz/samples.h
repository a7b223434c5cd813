// Whole files to start mutating from, and ways to make their checksums right again.
#pragma once

#include <cstddef>
#include <vector>

namespace mneme::fuzz {

using Bytes = std::vector<std::byte>;

inline constexpr char kBaseName[] = "base.mneme";

/// A file that its reader accepts.
Bytes sampleSnapshot();
Bytes sampleDelta(); ///< a snapshot based on a file kBaseName with the content of sampleSnapshot()
Bytes sampleSnapshotV1(); ///< of format version 1
Bytes sampleRecord();
Bytes sampleBlob();
Bytes sampleImage(); ///< a fat binary with one ELF image with one blob
Bytes sampleCode();  ///< a fat binary with a cubin, and PTX
Bytes samplePtx();

/// Recomputes the checksums of a mutated file where its structure still allows that, so that the
/// mutation reaches the code behind them.
void repairSnapshot(Bytes& bytes);
void repairRecord(Bytes& bytes);
void repairBlob(Bytes& bytes);
void repairImage(Bytes& bytes);
void repairNothing(Bytes& bytes); ///< for files without checksums

} // namespace mneme::fuzz
