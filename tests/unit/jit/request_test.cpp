#include <doctest/doctest.h>

#include "runtime/jit/request.h"

using namespace mneme;
using namespace mneme::jit;

namespace {

std::shared_ptr<const embed::KernelBlob> blobOf(std::vector<KernelArg> args) {
  embed::KernelBlob blob;
  blob.args = std::move(args);
  return std::make_shared<const embed::KernelBlob>(std::move(blob));
}

/// (int* p, int n, Functor f, short s, float x)
KernelCode code() {
  const auto blob =
      blobOf({{.name = "p", .sizeBytes = 8, .kind = ArgKind::Pointer},
              {.name = "n", .sizeBytes = 4, .kind = ArgKind::Integer, .isSpecializable = true},
              {.name = "f", .sizeBytes = 24, .kind = ArgKind::Aggregate},
              {.name = "s", .sizeBytes = 2, .kind = ArgKind::Integer},
              {.name = "x", .sizeBytes = 4, .kind = ArgKind::Float, .isSpecializable = true}});
  return {.name = "k", .blob = blob, .modules = {blob}};
}

tuned::Variant variantWith(const std::vector<std::pair<uint32_t, size_t>>& sizes) {
  tuned::Variant variant;
  for (const auto& [index, size] : sizes)
    variant.match.args.push_back(
        {.index = index, .bytes = std::vector<std::byte>(size), .kind = ArgKind::Integer});
  return variant;
}

} // namespace

TEST_CASE("other dimensions need to know every argument that is passed by value") {
  CHECK(whyKeepsDims(variantWith({{1, 4}, {2, 24}, {3, 2}, {4, 4}}), code()).empty());
  CHECK(whyKeepsDims(variantWith({{1, 4}, {3, 2}, {4, 4}}), code()).find("argument 2") !=
        std::string::npos);
  CHECK(whyKeepsDims(variantWith({{1, 4}, {2, 24}, {4, 4}}), code()).find("argument 3") !=
        std::string::npos);
}

TEST_CASE("kernels that link further units keep their dimensions") {
  KernelCode linked = code();
  linked.modules.push_back(blobOf({}));
  CHECK(whyKeepsDims(variantWith({{1, 4}, {2, 24}, {3, 2}, {4, 4}}), linked).find("other units") !=
        std::string::npos);
}

TEST_CASE("Match may list aggregates of the right size, and no pointers") {
  CHECK(whyUnfit(variantWith({{1, 4}, {2, 24}, {3, 2}, {4, 4}}), *code().blob).empty());
  CHECK(!whyUnfit(variantWith({{2, 16}}), *code().blob).empty());
  CHECK(!whyUnfit(variantWith({{0, 8}}), *code().blob).empty());
}

TEST_CASE("only integers that can become constants count for nearness") {
  tuned::Variant variant = variantWith({{1, 4}, {2, 24}, {3, 2}, {4, 4}});
  completeMatch(variant.match, *code().blob);
  const std::vector<ArgValue>& args = variant.match.args;
  CHECK(args[0].kind == ArgKind::Integer);
  CHECK(args[1].kind == ArgKind::Aggregate);
  CHECK(args[2].kind == ArgKind::Unknown);
  CHECK(args[3].kind == ArgKind::Float);
}

TEST_CASE("of structures, what the kernel reads identifies a launch, but for pointers") {
  const ArgField pointer{.offset = 0, .sizeBytes = 8, .kind = ArgKind::Pointer};
  const ArgField count{
      .offset = 8, .sizeBytes = 4, .kind = ArgKind::Integer, .isSpecializable = true};
  const ArgField factor{.offset = 16, .sizeBytes = 8, .kind = ArgKind::Float};
  const auto blob = blobOf({{.name = "f",
                             .sizeBytes = 24,
                             .kind = ArgKind::Aggregate,
                             .fields = {{pointer, count, factor}}},
                            {.name = "unread",
                             .sizeBytes = 8,
                             .kind = ArgKind::Aggregate,
                             .fields = std::vector<ArgField>()}});
  const KernelCode kernel{.name = "k", .blob = blob, .modules = {blob}};
  tuned::Variant variant = variantWith({{0, 24}});
  CHECK(whyUnfit(variant, *blob).empty());
  variant.match.args[0].bytes[8] = std::byte{5};
  completeMatch(variant.match, *blob);
  REQUIRE(variant.match.args.size() == 2);
  CHECK(variant.match.args[0].path() == ArgPath{0, 8});
  CHECK(variant.match.args[0].bytes.size() == 4);
  CHECK(variant.match.args[0].bytes[0] == std::byte{5});
  CHECK(variant.match.args[0].kind == ArgKind::Integer);
  CHECK(variant.match.args[1].path() == ArgPath{0, 16});
  CHECK(variant.match.args[1].kind == ArgKind::Float);
  CHECK(whyKeepsDims(variant, kernel).empty());
  CHECK(whyKeepsDims(tuned::Variant(), kernel).find("argument 0") != std::string::npos);

  variant.match.args.clear();
  variant.specializeArgs = true;
  variant.specializedArgs = {{ArgPath{0, 8}}};
  CHECK(whyUnfit(variant, *blob).empty());
  CHECK(specializedArgs(variant, *blob) == std::vector<ArgPath>{{0, 8}});
  variant.specializedArgs = {{ArgPath{0, 16}}};
  CHECK(whyUnfit(variant, *blob).find("offset 16") != std::string::npos);
  variant.specializedArgs = {{ArgPath{0}}};
  CHECK(!whyUnfit(variant, *blob).empty());
}
