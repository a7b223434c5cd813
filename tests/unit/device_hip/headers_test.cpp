// Our declarations of HIP against what its headers of many versions say: `hip_facts.json`, which
// `scripts/hip_facts.py` wrote from the headers themselves and names where each came from. Another
// file of that form can be named by MNEME_HIP_FACTS.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/hip/hip_driver.h"
#include "runtime/emulator/runtimes/hip/device_properties.h"
#include "runtime/jit/backends/hip/runtime.h"
#include "runtime/recorder/backends/hip/runtime.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/open_captures.h"
#include "runtime/recorder/recorder_exported.h"
#include "signature.h"

// The recorder's functions as the compiler sees them, in namespaces of their own: HIP's names must
// not be exported from a test.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#undef MNEME_RECORD_API
#define MNEME_RECORD_API [[maybe_unused]] static
#define __attribute__(ignored) // the alias has no function to stand for
namespace memory {
#include "runtime/recorder/interpose/hip.cpp"
} // namespace memory
namespace addresses {
#include "runtime/recorder/interpose/hip_addresses.cpp"
} // namespace addresses
namespace copies {
#include "runtime/recorder/interpose/hip_copies.cpp"
} // namespace copies
namespace graphs {
#include "runtime/recorder/interpose/hip_graphs.cpp"
} // namespace graphs
namespace graph_changes {
#include "runtime/recorder/interpose/hip_graph_changes.cpp"
} // namespace graph_changes
namespace launches {
#include "runtime/recorder/interpose/hip_launches.cpp"
} // namespace launches
namespace modules {
#include "runtime/recorder/interpose/hip_modules.cpp"
} // namespace modules
#undef __attribute__
#pragma clang diagnostic pop

namespace mneme {
namespace {

namespace interposed {
using namespace memory;
using namespace addresses;
using namespace copies;
using namespace graphs;
using namespace graph_changes;
using namespace launches;
using namespace modules;
} // namespace interposed

using namespace device::hip;

/// "in HIP 5.2 and 6.4": what a fact is in each version that has it.
using Told = nlohmann::json;

const nlohmann::json& facts() {
  static const nlohmann::json read = [] {
    const char* named = std::getenv("MNEME_HIP_FACTS");
    return nlohmann::json::parse(std::ifstream(named ? named : HIP_FACTS));
  }();
  return read;
}

/// What HIP 5.2 alone has otherwise: a struct of memory it cannot make, for which mneme asks no
/// such version, and types of nodes, which a test of its own compares.
bool isPassedOver(std::string_view name, const nlohmann::json& versions) {
  return (name.starts_with("hipMemAllocationProp.") || name.starts_with("hipGraphNodeType")) &&
         versions.size() == 1 && versions[0].get<std::string>().starts_with("5.2.");
}

void compare(const std::string& name, const std::string& ours) {
  INFO(name);
  const nlohmann::json& told = facts()["facts"];
  REQUIRE_MESSAGE(told.contains(name), "run scripts/hip_facts.py with HIP's headers again");
  for (const auto& [theirs, versions] : told[name].items())
    if (!isPassedOver(name, versions)) {
      INFO(versions.dump());
      CHECK(theirs == ours);
    }
}

/// "4(p,p,8)" as "4(p,8)".
std::string withoutFirst(std::string signature) {
  REQUIRE(signature.find("(p,") == 1);
  return signature.erase(2, 2);
}

void compare(const std::string& name, uint64_t ours) { compare(name, std::to_string(ours)); }

} // namespace

#define PROPERTIES(type, field)
#define VALUE(name) compare(#name, static_cast<uint64_t>(name));
#define NUMBER(name, ours) compare(#name, static_cast<uint64_t>(ours));
#define FIELD(type, field, ours) compare(#type "." #field, ours);
#define SIZE(type, ours) compare("sizeof " #type, ours);
#define DRIVER(name) compare(#name, signature<decltype(Driver::name)>());
#define INTERPOSED(name) compare(#name, signature<decltype(&interposed::name)>());
#define RECORDER(name, member)                                                                     \
  compare(#name, signature<decltype(record::gpu::HipRuntime::member)>());
#define GRAPHS(name, ...) compare(#name, signature<__VA_ARGS__>());
#define CHANGES(name, executable)                                                                  \
  compare(#name, withoutFirst(signature<decltype(&interposed::executable)>()));
#define TUNED(name, member) compare(#name, signature<decltype(jit::HipRuntime::member)>());

TEST_CASE("what is declared of HIP is what its headers say") {
#include "names.inc"
}

TEST_CASE("facts of HIP are there for every major version that mneme runs with") {
  for (const char* major : {"5.", "6.", "7."}) {
    INFO(major);
    const auto& headers = facts()["headers"];
    CHECK((std::getenv("MNEME_HIP_FACTS") ||
           std::any_of(headers.items().begin(), headers.items().end(),
                       [&](const auto& one) { return one.key().rfind(major, 0) == 0; })));
  }
}

TEST_CASE("HIP 5.2 counts types of nodes from 1, but has none for memory") {
  const nlohmann::json& told = facts()["facts"];
  const auto in52 = [&](const char* name) {
    for (const auto& [number, versions] : told[name].items())
      for (const auto& version : versions)
        if (version.get<std::string>().starts_with("5.2."))
          return std::stoi(number);
    return -1;
  };
  CHECK(in52("hipGraphNodeTypeKernel") == static_cast<int>(record::NodeKind::Kernel) + 1);
  CHECK(in52("hipGraphNodeTypeMemcpy") == graphs::kMemcpy + 1);
  CHECK(in52("hipGraphNodeTypeGraph") == static_cast<int>(record::NodeKind::Child) + 1);
  CHECK(in52("hipGraphNodeTypeMemAlloc") == -1);
}

TEST_CASE("the name of the architecture is where each HIP's properties have it") {
  const nlohmann::json& told = facts()["facts"];
  for (const auto& [place, versions] : told["hipDeviceProp_t.gcnArchName"].items())
    for (const auto& version : versions) {
      INFO(version.dump());
      const bool isOld = version.get<std::string>()[0] == '5';
      CHECK(std::stoul(place) ==
            (isOld ? DeviceProperties::kArchOffset : DeviceProperties::kArchOffset0600));
    }
  for (const auto& [bytes, versions] : told["sizeof hipDeviceProp_t"].items()) {
    INFO(versions.dump());
    CHECK(std::stoul(bytes) < DeviceProperties::kSizeBytes);
    const bool isOld = versions[0].get<std::string>()[0] == '5';
    using namespace cpu_runtime::hip;
    CHECK(std::stoul(bytes) == (isOld ? sizeof(DeviceProp0000) : sizeof(DeviceProp0600)));
  }
  const cpu_runtime::hip::DeviceProp0600 properties{};
  CHECK(properties.gcnArchName - reinterpret_cast<const char*>(&properties) ==
        DeviceProperties::kArchOffset0600);
}

} // namespace mneme
