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
  setKinds(variant.match, *code().blob);
  const std::vector<ArgValue>& args = variant.match.args;
  CHECK(args[0].kind == ArgKind::Integer);
  CHECK(args[1].kind == ArgKind::Aggregate);
  CHECK(args[2].kind == ArgKind::Unknown);
  CHECK(args[3].kind == ArgKind::Float);
}
