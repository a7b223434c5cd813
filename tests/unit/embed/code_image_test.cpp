#include "runtime/core/embed/code_image.h"

#include <doctest/doctest.h>

#include <string_view>

#include "runtime/core/abi/argument_buffer.h"

namespace mneme::embed::test {
namespace {

Bytes bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

} // namespace

TEST_CASE("images are told by what they begin with") {
  CHECK(formOf(bytesOf("// comment\n.version 8.0\n.target sm_90\n")) == "ptx");
  CHECK(formOf(bytesOf("no code at all, only a text of some length")) == "");
  CHECK(formOf({}) == "");
  CHECK(copyImage(bytesOf("nothing")).bytes == nullptr);
}

TEST_CASE("parameters without IR lie where the driver says") {
  const CodeImage image = copyImage(bytesOf(".version 8.0\n.target sm_90\n.address_size 64\n"));
  REQUIRE(image.form == "ptx");
  const KernelBlob blob =
      withoutIr(image, {.architecture = "sm_90", .variables = {{.name = "table"}}}, "_Z1kPfi",
                {{0, 8}, {8, 4}, {16, 24}, {48, 1}});
  CHECK(blob.demangled == "k(float*, int)");
  CHECK(blob.image == image.bytes);
  CHECK(blob.imageForm == "ptx");
  CHECK(blob.arch == "sm_90");
  CHECK(blob.globals.size() == 1);
  CHECK(blob.metadataJson == "{}");
  const DeviceCode stamps = {.kernels = {{.name = "_Z1kPfi", .unrecordedReads = {"clocks"}}}};
  CHECK(withoutIr(image, stamps, "_Z1kPfi", {}).metadataJson ==
        R"({"options":{"unrecorded_reads":["clocks"]}})");
  CHECK(withoutIr(image, stamps, "_Z1kPfi", {}).isCodeRead);
  CHECK(!blob.isCodeRead); // so nobody knows what it reads
  REQUIRE(blob.args.size() == 4);
  CHECK(blob.args[0].kind == ArgKind::Unknown);
  CHECK(blob.args[1].kind == ArgKind::Integer);
  CHECK(blob.args[2].kind == ArgKind::Aggregate);
  char buffer[64];
  size_t size = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), buffer, reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  std::vector<void*> places;
  REQUIRE(unpackArguments(extra, blob.args, places));
  CHECK(places == std::vector<void*>{buffer, buffer + 8, buffer + 16, buffer + 48});
}

TEST_CASE("a kernel without IR is known by its image and its name") {
  const CodeImage one = copyImage(bytesOf(".version 8.0\n.target sm_90\n"));
  const CodeImage other = copyImage(bytesOf(".version 8.0\n.target sm_80\n"));
  const auto hashOf = [](const CodeImage& image, const char* name) {
    return withoutIr(image, {}, name, {}).staticHash;
  };
  CHECK(hashOf(one, "a") == hashOf(one, "a"));
  CHECK(hashOf(one, "a") != hashOf(one, "b"));
  CHECK(hashOf(one, "a") != hashOf(other, "a"));
}

} // namespace mneme::embed::test
