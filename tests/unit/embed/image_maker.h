// Makes blobs and the containers they are found in, by hand.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mneme::embed::test {

using Buffer = std::vector<std::byte>;

Buffer bytesOf(const std::string& text);

/// Metadata of a kernel, as the passes write it. `kernel` "" makes shared code. With anything
/// undefined, its one global is undefined too.
std::string metadataFor(const std::string& kernel, uint64_t staticHash,
                        const std::string& undefined = "[]", const std::string& arch = "sm_90");

/// A whole blob; the bitcode is any text.
Buffer blobWith(const std::string& metadata, const std::string& bitcode, uint64_t staticHash);
Buffer blobFor(const std::string& kernel, uint64_t staticHash, const std::string& undefined = "[]",
               const std::string& arch = "sm_90");

struct Symbol {
  std::string name;
  Buffer content;
  uint8_t info = 0; ///< as st_info
};

/// 64-bit ELF image whose symbols lie in one section, and in a table of this type.
Buffer elfWith(const std::vector<Symbol>& symbols, uint32_t tableType = SHT_SYMTAB);

struct Member {
  uint16_t kind; ///< 1 PTX, 2 ELF
  Buffer payload;
  uint32_t compressedBytes = 0;
  uint64_t flags = 0;
  uint64_t rawBytes = 0;
};

/// A cubin of sections and symbols like those of ptxas: variables `counter` (4 bytes),
/// `coefficients` (16, constant), and a kernel `k` whose attributes are these words; its arguments
/// are u64, u32 and 24 bytes if there are none.
Buffer cubinWith(std::vector<uint32_t> attributes = {}, uint8_t abi = 8,
                 uint32_t flags = 0x6005a04);

Buffer fatBinaryWith(const std::vector<Member>& members);
Buffer bundleWith(const std::vector<Buffer>& images);
Buffer compressedBundleWith(const Buffer& bundle, uint16_t version);
std::string ptxWith(const std::vector<Symbol>& symbols);

/// "__mneme_ir_<hash>" or "__mneme_module_<hash>".
std::string symbolFor(const char* prefix, uint64_t staticHash);

} // namespace mneme::embed::test
