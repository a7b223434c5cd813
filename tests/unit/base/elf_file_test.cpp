#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/file.h"
#include "tests/unit/base/elf_maker.h"
#include "tests/unit/base/temporary_directory.h"

using namespace mneme;
using mneme::test::ElfMaker;

namespace {

using Buffer = std::vector<std::byte>;
using Names = std::vector<std::string>;

constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr uint32_t kNoteType = 32;

void append(Buffer& to, const void* bytes, size_t size) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), begin, begin + size);
}

Buffer noteOf(const std::string& owner, uint32_t type, const std::string& content) {
  Buffer note;
  const Elf64_Nhdr header{static_cast<uint32_t>(owner.size() + 1),
                          static_cast<uint32_t>(content.size()), type};
  append(note, &header, sizeof header);
  for (const std::string& text : {owner + '\0', content}) {
    append(note, text.data(), text.size());
    note.resize((note.size() + 3) / 4 * 4);
  }
  return note;
}

/// With names, symbols, a note and a segment around it.
Buffer sample() {
  ElfMaker elf;
  const uint32_t names = elf.add(".strtab", SHT_STRTAB, std::string("\0first\0second\0", 14));
  const Elf64_Sym symbols[3]{{}, {1, 0, 0, 1, 10, 4}, {7, 0, 0, 1, 20, 8}};
  elf.add(".symtab", SHT_SYMTAB, std::as_bytes(std::span(symbols)), names);
  elf.add(".text", SHT_PROGBITS, "code");
  elf.add(".text", SHT_PROGBITS, "of the same name");
  elf.add(".bss", SHT_NOBITS, std::string());
  elf.add(".note", SHT_NOTE, noteOf("Mneme", kNoteType, "noted"));
  Buffer file = elf.finish(EM_X86_64);
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_filesz = sizeof(Elf64_Ehdr);
  auto& header = reinterpret_cast<Elf64_Ehdr&>(*file.data());
  header.e_phoff = file.size(), header.e_phnum = 1, header.e_phentsize = sizeof segment;
  append(file, &segment, sizeof segment);
  return file;
}

/// The sample after `change` of its header.
template <typename Change> Buffer sampleWith(const Change& change) {
  Buffer file = sample();
  change(reinterpret_cast<Elf64_Ehdr&>(*file.data()));
  return file;
}

/// The sample after `change` of the header of one of its sections.
template <typename Change> Buffer sampleWithSection(const std::string& name, const Change& change) {
  Buffer file = sample();
  const auto read = elf::File::in(file);
  Elf64_Shdr header = read->find(name)->header;
  const auto index = static_cast<size_t>(read->find(name) - read->sections().data());
  change(header);
  std::memcpy(file.data() + read->header().e_shoff + index * sizeof header, &header, sizeof header);
  return file;
}

std::string textOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string contentOf(const elf::File& file, const std::string& section) {
  const std::optional<Bytes> content = file.content(*file.find(section));
  return content ? textOf(*content) : "outside";
}

Names symbolsOf(const elf::File& file) {
  Names names;
  file.forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
    names.push_back(std::string(name) + "@" + std::to_string(symbol.st_value));
  });
  return names;
}

const Names kSymbols{"@0", "first@10", "second@20"};

/// Asks for everything there is.
void readAll(const elf::File& file) {
  for (const elf::Section& section : file.sections())
    elf::findNote(file.content(section).value_or(Bytes()), "Mneme", kNoteType);
  symbolsOf(file);
  file.isWhole();
}

} // namespace

TEST_CASE("an ELF file is known by its first bytes") {
  const Buffer file = sample();
  CHECK(elf::isElf(std::span(file).first(4)));
  CHECK(!elf::isElf(std::span(file).first(3)));
  CHECK(!elf::isElf64(std::span(file).first(4)));
  CHECK(elf::isElf64(file));
  for (const auto& [at, value] : {std::pair(EI_CLASS, ELFCLASS32), {EI_DATA, ELFDATA2MSB}}) {
    Buffer other = file;
    other[at] = std::byte(value);
    CHECK(elf::isElf(other));
    CHECK(!elf::isElf64(other));
    CHECK(!elf::File::in(other));
  }
}

TEST_CASE("sections have names, types and contents") {
  const Buffer bytes = sample();
  const auto file = elf::File::in(bytes);
  REQUIRE(file);
  CHECK(file->header().e_machine == EM_X86_64);
  CHECK(file->sectionCount() == 8);
  CHECK(file->sections().size() == 8);
  CHECK(contentOf(*file, ".text") == "code"); // the first
  CHECK(contentOf(*file, ".bss").empty());
  CHECK(file->find(SHT_NOTE) == file->find(".note"));
  CHECK(!file->find(".tex"));
  CHECK(!file->find(SHT_DYNSYM));
  CHECK(file->isWhole());
}

TEST_CASE("symbols have the names that their table is linked with") {
  const Buffer bytes = sample();
  CHECK(symbolsOf(*elf::File::in(bytes)) == kSymbols);
  const Buffer cut = sampleWithSection(".symtab", [](Elf64_Shdr& header) { header.sh_size -= 1; });
  CHECK(symbolsOf(*elf::File::in(cut)) == Names{"@0", "first@10"});
  const Buffer nameless = sampleWithSection(".strtab", [](Elf64_Shdr& h) { h.sh_size = 9; });
  CHECK(symbolsOf(*elf::File::in(nameless)) == Names{"@0", "first@10", "se@20"});
  const Buffer unlinked = sampleWithSection(".symtab", [](Elf64_Shdr& h) { h.sh_link = 8; });
  CHECK(symbolsOf(*elf::File::in(unlinked)).empty());
}

TEST_CASE("a file on disk is read as one in memory") {
  const mneme::test::TemporaryDirectory directory;
  const Buffer bytes = sample();
  writeFileAtomically(directory.path() / "file", bytes);
  const UniqueFd opened = openRegularFile(directory.path() / "file");
  const auto file = elf::File::of(opened, kNoLimit);
  REQUIRE(file);
  CHECK(contentOf(*file, ".text") == "code");
  CHECK(symbolsOf(*file) == kSymbols);
  CHECK(file->isWhole());
  const auto limited = elf::File::of(opened, 8 * sizeof(Elf64_Shdr));
  REQUIRE(limited);
  CHECK(limited->isWhole());
  CHECK(!elf::File::of(opened, sizeof(Elf64_Ehdr) - 1));
  CHECK(elf::File::of(opened, 8 * sizeof(Elf64_Shdr) - 1)->sections().empty());
  CHECK(!elf::File::of(UniqueFd(), kNoLimit));
}

TEST_CASE("a header that is cut off is not one") {
  const Buffer file = sample();
  for (size_t size = 0; size < sizeof(Elf64_Ehdr); ++size)
    CHECK(!elf::File::in(std::span(file).first(size)));
  CHECK(elf::File::in(std::span(file).first(sizeof(Elf64_Ehdr)))->sections().empty());
}

TEST_CASE("a file that is cut off is not whole") {
  const Buffer file = sample();
  for (size_t size = sizeof(Elf64_Ehdr); size < file.size(); ++size)
    CHECK(!elf::File::in(std::span(file).first(size))->isWhole());
}

TEST_CASE("a table that goes beyond the file gives the sections that lie inside") {
  const Buffer many = sampleWith([](Elf64_Ehdr& header) { header.e_shnum = UINT16_MAX; });
  const auto file = elf::File::in(many);
  CHECK(file->sectionCount() == UINT16_MAX);
  CHECK(file->sections().size() == 8); // and not what lies behind them
  CHECK(contentOf(*file, ".text") == "code");
  CHECK(!file->isWhole());
}

TEST_CASE("a table of sections that makes no sense gives none") {
  const Buffer files[] = {
      sampleWith([](Elf64_Ehdr& header) { header.e_shentsize = 40; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shentsize = 0; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shoff = UINT64_MAX; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shoff = UINT64_MAX - 8 * 64 + 1; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shoff = sample().size() + 1; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shoff = 0; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_shnum = 0; }),
  };
  for (const Buffer& bytes : files) {
    const auto file = elf::File::in(bytes);
    REQUIRE(file);
    CHECK(file->sections().empty());
    CHECK(!file->isWhole());
    CHECK(symbolsOf(*file).empty());
  }
}

TEST_CASE("sections have no names where the file says there are none, or says nonsense") {
  for (const uint16_t index : {SHN_UNDEF, 8, SHN_XINDEX}) {
    const Buffer bytes = sampleWith([&](Elf64_Ehdr& header) { header.e_shstrndx = index; });
    const auto file = elf::File::in(bytes);
    CHECK(file->sections().size() == 8);
    CHECK(!file->find(".text"));
    CHECK(symbolsOf(*file) == kSymbols);
  }
  const Buffer bytes =
      sampleWithSection(".text", [](Elf64_Shdr& header) { header.sh_name = UINT32_MAX; });
  CHECK(contentOf(*elf::File::in(bytes), ".text") == "of the same name");
}

TEST_CASE("content outside the file is nothing") {
  const std::pair<uint64_t, uint64_t> places[] = {
      {UINT64_MAX, 1},          {UINT64_MAX - 3, 4},     {UINT64_MAX - 3, 5},
      {64, UINT64_MAX},         {64, UINT64_MAX - 63},   {sample().size(), 1},
      {sample().size() + 1, 0}, {0, sample().size() + 1}};
  for (const auto& [offset, size] : places) {
    const Buffer bytes = sampleWithSection(
        ".text", [&](Elf64_Shdr& header) { header.sh_offset = offset, header.sh_size = size; });
    const auto file = elf::File::in(bytes);
    CHECK(contentOf(*file, ".text") == "outside");
    CHECK(!file->isWhole());
  }
  const Buffer end = sampleWithSection(
      ".text", [](Elf64_Shdr& header) { header.sh_offset = sample().size(), header.sh_size = 0; });
  CHECK(elf::File::in(end)->isWhole());
}

TEST_CASE("segments are as the header says, or nothing") {
  const Buffer bytes = sample();
  const auto file = elf::File::in(bytes);
  REQUIRE(file->segments());
  REQUIRE(file->segments()->size() == 1);
  CHECK(textOf(*file->content(file->segments()->front())).starts_with(ELFMAG));
  const Buffer none = sampleWith([](Elf64_Ehdr& h) { h.e_phnum = 0, h.e_phentsize = 0; });
  CHECK(elf::File::in(none)->segments()->empty());
  CHECK(elf::File::in(none)->isWhole());
  const Buffer files[] = {
      sampleWith([](Elf64_Ehdr& header) { header.e_phentsize = 32; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_phnum = 2; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_phnum = UINT16_MAX; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_phoff += 1; }),
      sampleWith([](Elf64_Ehdr& header) { header.e_phoff = UINT64_MAX - 55; }),
  };
  for (const Buffer& damaged : files) {
    CHECK(!elf::File::in(damaged)->segments());
    CHECK(!elf::File::in(damaged)->isWhole());
  }
}

TEST_CASE("a note is found by its owner and type") {
  Buffer notes = noteOf("Other", kNoteType, "not this");
  for (const Buffer& note : {noteOf("Mneme", 1, "nor this"), noteOf("Mneme", kNoteType, "this"),
                             noteOf("Mneme", kNoteType, "this is late")})
    append(notes, note.data(), note.size());
  CHECK(textOf(*elf::findNote(notes, "Mneme", kNoteType)) == "this");
  CHECK(elf::findNote(notes, "Mnem", kNoteType)->empty());
  CHECK(elf::findNote(notes, "Mneme", 2)->empty());
  CHECK(elf::findNote({}, "Mneme", kNoteType)->empty());
}

TEST_CASE("notes that lie outside are nothing") {
  const Buffer note = noteOf("Mneme", kNoteType, "content!");
  for (size_t size = sizeof(Elf64_Nhdr); size < note.size(); ++size)
    CHECK(!elf::findNote(std::span(note).first(size), "Mneme", kNoteType));
  for (const size_t at : {offsetof(Elf64_Nhdr, n_namesz), offsetof(Elf64_Nhdr, n_descsz)}) {
    Buffer damaged = note;
    for (size_t byte = 0; byte < 4; ++byte)
      damaged[at + byte] = std::byte{0xff};
    CHECK(!elf::findNote(damaged, "Mneme", kNoteType));
  }
}

TEST_CASE("damaged files are read as far as they go, and nothing worse") {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    Buffer damaged = sample();
    for (unsigned flips = random() % 6; flips > 0; --flips)
      damaged[random() % damaged.size()] = random() % 2 ? std::byte{0xff} : std::byte(random());
    if (round % 3 == 0)
      damaged.resize(random() % damaged.size());
    if (const auto file = elf::File::in(damaged))
      readAll(*file);
  }
}
