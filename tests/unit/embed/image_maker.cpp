#include "image_maker.h"

#include <zstd.h>

#include <cstring>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/base/hash.h"
#include "tests/unit/base/elf_maker.h"

namespace mneme::embed::test {
namespace {

template <typename Structure> void append(Buffer& buffer, const Structure& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  buffer.insert(buffer.end(), begin, begin + sizeof(value));
}

void append(Buffer& buffer, const Buffer& other) {
  buffer.insert(buffer.end(), other.begin(), other.end());
}

} // namespace

Buffer bytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string metadataFor(const std::string& kernel, uint64_t staticHash,
                        const std::string& undefined, const std::string& arch) {
  return R"({"kernel":")" + kernel + R"(","demangled":")" + kernel +
         R"j((int*)","static_hash":")j" + toHex(staticHash) +
         R"(","triple":"nvptx64-nvidia-cuda","arch":")" + arch +
         R"(","clang":"22.1.8","args":[{"name":"p","size":8,"align":8,"kind":"pointer",)"
         R"("type":"ptr","specializable":false},{"name":"n","size":4,"align":4,)"
         R"("kind":"integer","type":"i32","specializable":true}],"globals":[{"name":"state",)"
         R"("size":16,"align":4,"constant":true,"defined":)" +
         (undefined == "[]" ? "true" : "false") +
         R"(}],"shared_bytes":128,)"
         R"("max_threads":256,"min_blocks":2,"undefined":)" +
         undefined + R"(,"options":{"fp_contract":"fast"}})";
}

Buffer blobWith(const std::string& metadata, const std::string& bitcode, uint64_t staticHash) {
  Buffer frame(ZSTD_compressBound(bitcode.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bitcode.data(), bitcode.size(), 5));
  Buffer payload = bytesOf(metadata);
  append(payload, frame);
  BlobHeader header{};
  std::memcpy(header.magic, kBlobMagic, sizeof(header.magic));
  header.version = kBlobVersion;
  header.headerBytes = sizeof(header);
  header.staticHash = staticHash;
  header.metadataBytes = metadata.size();
  header.bitcodeBytes = frame.size();
  header.bitcodeRawBytes = bitcode.size();
  header.checksum = hash64(payload);
  Buffer blob;
  append(blob, header);
  append(blob, payload);
  return blob;
}

Buffer blobFor(const std::string& kernel, uint64_t staticHash, const std::string& undefined,
               const std::string& arch) {
  return blobWith(metadataFor(kernel, staticHash, undefined, arch), "bitcode of " + kernel,
                  staticHash);
}

Buffer elfWith(const std::vector<Symbol>& symbols, uint32_t tableType) {
  mneme::test::ElfMaker elf;
  Buffer content;
  Buffer table(sizeof(Elf64_Sym));
  std::string names(1, '\0');
  for (const Symbol& symbol : symbols) {
    Elf64_Sym entry{};
    entry.st_name = names.size();
    entry.st_info = symbol.info;
    entry.st_shndx = 1;
    entry.st_value = content.size();
    entry.st_size = symbol.content.size();
    append(table, entry);
    append(content, symbol.content);
    names += symbol.name + '\0';
  }
  elf.add("", SHT_PROGBITS, content);
  const uint32_t nameTable = elf.add("", SHT_STRTAB, names);
  elf.add("", tableType, table, nameTable);
  return elf.finish();
}

Buffer cubinWith(std::vector<uint32_t> attributes, uint8_t abi, uint32_t flags) {
  constexpr uint16_t kMachine = 190;
  constexpr unsigned char kEntry = 0x10;
  if (attributes.empty()) // by ptxas 13.0, last parameter first
    attributes = {0x00043704, 0x00000082, 0x000c1704, 0,          0x00100002, 0x0061f000,
                  0x000c1704, 0,          0x00080001, 0x0011f000, 0x000c1704, 0,
                  0x00000000, 0x0021f000, 0x00005003, 0x00ff1b03};
  const auto bytesOfWords = [](const std::vector<uint32_t>& words) {
    const auto bytes = std::as_bytes(std::span(words));
    return Buffer(bytes.begin(), bytes.end());
  };
  mneme::test::ElfMaker elf;
  elf.add(".nv.info", SHT_LOPROC, bytesOfWords({0x00082f04, 4, 21}));
  elf.add(".nv.info.k", SHT_LOPROC, bytesOfWords(attributes));
  const uint32_t code = elf.add(".text.k", SHT_PROGBITS, bytesOfWords({0, 0}));
  const uint32_t global = elf.add(".nv.global.init", SHT_PROGBITS, bytesOfWords({5}));
  const uint32_t constant = elf.add(".nv.constant3", SHT_PROGBITS, bytesOfWords({1, 2, 3, 4}));
  const uint32_t bank = elf.add(".nv.constant0.k", SHT_PROGBITS, bytesOfWords({1}));
  const uint32_t strings =
      elf.add(".strtab", SHT_STRTAB, std::string("\0counter\0coefficients\0other\0k\0", 30));
  const auto symbol = [](uint32_t name, unsigned type, unsigned char other, uint32_t section,
                         uint64_t size) {
    return Elf64_Sym{name,  static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)),
                     other, static_cast<uint16_t>(section),
                     0,     size};
  };
  const Elf64_Sym symbols[] = {{},
                               symbol(1, STT_OBJECT, 0, global, 4),
                               symbol(9, STT_OBJECT, 0, constant, 16),
                               symbol(22, STT_OBJECT, 0, bank, 4),
                               symbol(28, STT_FUNC, kEntry, code, 8)};
  elf.add(".symtab", SHT_SYMTAB, std::as_bytes(std::span(symbols)), strings);
  return elf.finish(kMachine, abi, flags);
}

Buffer fatBinaryWith(const std::vector<Member>& members) {
  Buffer payload;
  for (const Member& member : members) {
    append(payload, member.kind);
    append(payload, uint16_t{0x101});
    append(payload, uint32_t{64});
    append(payload, uint64_t{member.payload.size()});
    append(payload, member.compressedBytes);
    payload.resize(payload.size() + 40 - 20);
    append(payload, member.flags);
    append(payload, uint64_t{0});
    append(payload, member.rawBytes);
    append(payload, member.payload);
  }
  Buffer fatBinary;
  append(fatBinary, uint32_t{0xBA55ED50});
  append(fatBinary, uint16_t{1});
  append(fatBinary, uint16_t{16});
  append(fatBinary, uint64_t{payload.size()});
  append(fatBinary, payload);
  return fatBinary;
}

Buffer bundleWith(const std::vector<Buffer>& images) {
  const std::string target = "hipv4-amdgcn-amd-amdhsa--gfx90a";
  Buffer bundle = bytesOf("__CLANG_OFFLOAD_BUNDLE__");
  append(bundle, uint64_t{images.size()});
  uint64_t offset = bundle.size() + images.size() * (24 + target.size());
  for (const Buffer& image : images) {
    append(bundle, offset);
    append(bundle, uint64_t{image.size()});
    append(bundle, uint64_t{target.size()});
    append(bundle, bytesOf(target));
    offset += image.size();
  }
  for (const Buffer& image : images)
    append(bundle, image);
  return bundle;
}

Buffer compressedBundleWith(const Buffer& bundle, uint16_t version) {
  Buffer frame(ZSTD_compressBound(bundle.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bundle.data(), bundle.size(), 3));
  Buffer packed = bytesOf("CCOB");
  append(packed, version);
  append(packed, uint16_t{1});
  if (version == 2) {
    append(packed, uint32_t(24 + frame.size()));
    append(packed, uint32_t(bundle.size()));
  } else {
    append(packed, uint64_t{32 + frame.size()});
    append(packed, uint64_t{bundle.size()});
  }
  append(packed, uint64_t{0});
  append(packed, frame);
  return packed;
}

std::string ptxWith(const std::vector<Symbol>& symbols) {
  std::string text = "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.8\n.target sm_90\n";
  for (const Symbol& symbol : symbols) {
    text += ".weak .global .align 8 .b8 " + symbol.name + "[" +
            std::to_string(symbol.content.size()) + "] = {";
    for (size_t index = 0; index < symbol.content.size(); ++index)
      text += (index ? ", " : "") + std::to_string(std::to_integer<int>(symbol.content[index]));
    text += "};\n";
  }
  return text + "\n.visible .entry add()\n{\n}\n";
}

std::string symbolFor(const char* prefix, uint64_t staticHash) {
  return prefix + toHex(staticHash);
}

} // namespace mneme::embed::test
