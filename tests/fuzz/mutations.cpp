// Mutates whole files and reads each: every answer but "accepted" or "refused" ends the program.
//   fuzz_mutations [files in all, default 40000] [seed]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>

#include "tests/fuzz/readers.h"
#include "tests/fuzz/samples.h"

namespace {

using mneme::fuzz::Answer;
using mneme::fuzz::Bytes;
using Random = std::mt19937_64;

struct Subject {
  const char* reader;
  Bytes (*sample)();
  void (*repair)(Bytes&);
};

constexpr std::array kSubjects = {
    Subject{"snapshot", mneme::fuzz::sampleSnapshot, mneme::fuzz::repairSnapshot},
    Subject{"snapshot", mneme::fuzz::sampleDelta, mneme::fuzz::repairSnapshot},
    Subject{"snapshot", mneme::fuzz::sampleSnapshotV1, mneme::fuzz::repairSnapshot},
    Subject{"record", mneme::fuzz::sampleRecord, mneme::fuzz::repairRecord},
    Subject{"blob", mneme::fuzz::sampleBlob, mneme::fuzz::repairBlob},
    Subject{"image", mneme::fuzz::sampleImage, mneme::fuzz::repairImage},
    Subject{"code", mneme::fuzz::sampleCode, mneme::fuzz::repairNothing},
    Subject{"code", mneme::fuzz::samplePtx, mneme::fuzz::repairNothing}};

/// Values at which sizes and offsets go wrong.
constexpr std::array<uint64_t, 12> kExtremes = {
    0, 1, 7, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, 1ull << 63, ~0ull};

void overwrite(Bytes& bytes, size_t place, uint64_t value, size_t width) {
  for (size_t index = 0; index < width && place + index < bytes.size(); ++index)
    bytes[place + index] = static_cast<std::byte>(value >> (8 * index));
}

void mutateOnce(Bytes& bytes, Random& random) {
  if (bytes.empty())
    return;
  const size_t place = random() % bytes.size();
  const size_t length = std::min<size_t>(bytes.size() - place, 1 + random() % 64);
  const auto at = [&](size_t index) { return bytes.begin() + static_cast<ptrdiff_t>(index); };
  switch (random() % 8) {
  case 0:
    bytes[place] ^= static_cast<std::byte>(1u << random() % 8);
    break;
  case 1:
    bytes[place] = static_cast<std::byte>(random());
    break;
  case 2:
    overwrite(bytes, place, kExtremes[random() % kExtremes.size()], 8);
    break;
  case 3:
    overwrite(bytes, place / 4 * 4, kExtremes[random() % kExtremes.size()], 4);
    break;
  case 4:
    bytes.resize(place);
    break;
  case 5:
    bytes.erase(at(place), at(place + length));
    break;
  case 6: {
    const Bytes copy(at(place), at(place + length));
    const size_t target = random() % (bytes.size() + 1);
    bytes.insert(at(target), copy.begin(), copy.end());
    break;
  }
  default:
    overwrite(bytes, place, place + random() % 128, 8);
    break;
  }
}

/// Returns how many of the files were accepted.
uint64_t run(const Subject& subject, uint64_t files, Random& random) {
  const auto& all = mneme::fuzz::readers();
  const auto reader = std::find_if(all.begin(), all.end(), [&](const auto& candidate) {
    return candidate.name == subject.reader;
  });
  const Bytes whole = subject.sample();
  if (reader->read(whole) != Answer::Accepted) {
    std::fprintf(stderr, "fuzz: the unchanged %s is refused\n", subject.reader);
    std::exit(1);
  }
  uint64_t accepted = 0;
  for (uint64_t file = 0; file < files; ++file) {
    Bytes bytes = whole;
    for (uint64_t count = 1 + random() % 4; count > 0; --count)
      mutateOnce(bytes, random);
    if (random() % 4 != 0)
      subject.repair(bytes);
    accepted += reader->read(bytes) == Answer::Accepted ? 1 : 0;
  }
  return accepted;
}

} // namespace

int main(int argc, char** argv) {
  const uint64_t files = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40000;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  mneme::fuzz::provide(mneme::fuzz::kBaseName, mneme::fuzz::sampleSnapshot());
  try {
    for (const Subject& subject : kSubjects) {
      const uint64_t share = files / kSubjects.size();
      const uint64_t accepted = run(subject, share, random);
      std::printf("%s: %llu mutated files, %llu accepted, the others refused with a sentence\n",
                  subject.reader, static_cast<unsigned long long>(share),
                  static_cast<unsigned long long>(accepted));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: an unexpected exception: %s\n", error.what());
    return 1;
  }
  return 0;
}
