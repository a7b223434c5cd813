// Our declarations of rocprofiler-sdk against what its headers of several versions say:
// `rocprofiler_facts.json`, which `scripts/rocprofiler_facts.py` wrote from the headers themselves
// and names where each came from. Another file of that form can be named by
// MNEME_ROCPROFILER_FACTS.
#include "runtime/devices/profile/hip/rocprofiler.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/device_hip/signature.h"

using namespace mneme::profile::rocprofiler;

namespace {

constexpr size_t kInfo = offsetof(DispatchRecord, infoBytes);

const nlohmann::json& facts() {
  static const nlohmann::json read = [] {
    const char* named = std::getenv("MNEME_ROCPROFILER_FACTS");
    return nlohmann::json::parse(std::ifstream(named ? named : ROCPROFILER_FACTS));
  }();
  return read;
}

/// What is declared for versions up to 0.x and since 1.0.
struct Forms {
  std::string older, newer;
};

void compare(const std::string& name, const Forms& ours) {
  INFO(name);
  const nlohmann::json& told = facts()["facts"];
  REQUIRE_MESSAGE(told.contains(name),
                  "run scripts/rocprofiler_facts.py with rocprofiler-sdk's headers again");
  for (const auto& [theirs, versions] : told[name].items())
    for (const auto& version : versions) {
      INFO(version.dump());
      CHECK(theirs == (version.get<std::string>().starts_with("0.") ? ours.older : ours.newer));
    }
}

void compare(const std::string& name, const std::string& ours) { compare(name, Forms{ours, ours}); }
void compare(const std::string& name, uint64_t ours) { compare(name, std::to_string(ours)); }
void compare(const std::string& name, uint64_t older, uint64_t newer) {
  compare(name, Forms{std::to_string(older), std::to_string(newer)});
}

} // namespace

#define NUMBER(name, ours) compare(#name, static_cast<uint64_t>(ours));
#define SIZE(type, ours) compare("sizeof " #type, ours);
#define FIELD(type, field, ours) compare(#type "." #field, ours);
#define CALLBACK_SIZE(type)                                                                        \
  compare("sizeof " #type, sizeof(CallbackRecord0), sizeof(CallbackRecord1));
#define CALLBACK(type, field, ours)                                                                \
  compare(#type "." #field, offsetof(CallbackRecord0, ours), offsetof(CallbackRecord1, ours));
#define CLIENT_SIZE(type) compare("sizeof " #type, sizeof(Client0), sizeof(Client1));
#define CLIENT(type, field, ours)                                                                  \
  compare(#type "." #field, offsetof(Client0, ours), offsetof(Client1, ours));
#define FUNCTION(name, member) compare(#name, signature<decltype(Functions::member)>());
#define CALLED(name, ours) compare(#name, signature<ours>());

TEST_CASE("what is declared of rocprofiler-sdk is what its headers say") {
#include "names.inc"
}

TEST_CASE("facts of rocprofiler-sdk are there for every ROCm that mneme runs with") {
  for (const char* version : {"0.4.", "0.5.", "0.6.", "1."}) { // of ROCm 6.2, 6.3, 6.4 and 7
    INFO(version);
    const auto& headers = facts()["headers"];
    CHECK((std::getenv("MNEME_ROCPROFILER_FACTS") ||
           std::any_of(headers.items().begin(), headers.items().end(),
                       [&](const auto& one) { return one.key().starts_with(version); })));
  }
}

TEST_CASE("a client tells its form by what it begins with") {
  const char name[] = "tool";
  const Client0 older{name, 7}, nameless{nullptr, 7};
  const Client1 newer{sizeof(Client1), name, 7}, longer{sizeof(Client1) + 8, name, 7};
  CHECK_FALSE(hasLength(&older));
  CHECK_FALSE(hasLength(&nameless));
  CHECK(hasLength(&newer));
  CHECK(hasLength(&longer));
}

TEST_CASE("records of dispatches that are longer are read where they begin as declared") {
  DispatchRecord record{};
  record.sizeBytes = sizeof record;
  CHECK(isAsDeclared(record)); // whatever its second length is
  record.sizeBytes = sizeof record - 8;
  record.infoBytes = 72;
  CHECK_FALSE(isAsDeclared(record));
  record.sizeBytes = sizeof record + 8;
  CHECK(isAsDeclared(record));
  record.infoBytes = 136;
  CHECK(isAsDeclared(record));
  record.infoBytes = 64;
  CHECK_FALSE(isAsDeclared(record));
  record.infoBytes = 1'700'000'000'000'000'000; // the end of the kernel, 8 bytes further back
  CHECK_FALSE(isAsDeclared(record));
}
