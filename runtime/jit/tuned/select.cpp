#include "runtime/jit/tuned/select.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

namespace mneme::tuned {
namespace {

constexpr double kNoRatio = 64;

double logRatio(double launched, double matched) {
  if (launched == matched)
    return 0;
  if (!(launched > 0) || !(matched > 0))
    return kNoRatio;
  return std::abs(std::log2(launched / matched));
}

double threads(const mneme_dim3& dims) { return double(dims.x) * dims.y * dims.z; }

std::span<const std::byte> launched(const LaunchFacts& facts, const ArgValue& arg) {
  const size_t offset = arg.offset.value_or(0);
  return argBytes(facts.args, arg.index, offset + arg.bytes.size()).subspan(offset);
}

bool isSame(const LaunchFacts& facts, const ArgValue& arg) {
  return std::memcmp(launched(facts, arg).data(), arg.bytes.data(), arg.bytes.size()) == 0;
}

bool isSameLaunch(const Match& match, const LaunchFacts& facts) {
  return (!match.grid || *match.grid == facts.dims.grid) &&
         (!match.block || *match.block == facts.dims.block) &&
         (!match.sharedBytes || *match.sharedBytes == facts.sharedBytes) &&
         std::ranges::all_of(match.args, [&](const ArgValue& arg) { return isSame(facts, arg); });
}

Likeness likenessTo(const Match& match, const LaunchFacts& facts) {
  if (match.sharedBytes != facts.sharedBytes)
    return Likeness::Other;
  Likeness likeness = Likeness::Same;
  for (const ArgValue& arg : match.args)
    if (!isSame(facts, arg)) {
      if (arg.kind != ArgKind::Float)
        return Likeness::SameShared;
      likeness = Likeness::SameCounts;
    }
  return likeness;
}

} // namespace

const char* closenessName(Closeness closeness) {
  switch (closeness) {
  case Closeness::None:
    return "not allowed for this launch";
  case Closeness::OtherArch:
    return "found on another architecture";
  case Closeness::Nearest:
    return "nearest to this launch";
  case Closeness::Same:
    break;
  }
  return "fits this launch";
}

int64_t integerOf(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes.size());
  return static_cast<int64_t>(value << unused) >> unused;
}

double distance(const Match& match, const LaunchFacts& facts) {
  double sum = 0;
  if (match.grid && match.block)
    sum += logRatio(threads(facts.dims.grid) * threads(facts.dims.block),
                    threads(*match.grid) * threads(*match.block));
  if (match.block)
    sum += logRatio(threads(facts.dims.block), threads(*match.block));
  for (const ArgValue& arg : match.args)
    if (arg.kind == ArgKind::Integer && !isSame(facts, arg))
      sum += logRatio(double(integerOf(launched(facts, arg))), double(integerOf(arg.bytes)));
  return sum;
}

bool isAllowed(const Variant& variant, const LaunchFacts& facts) {
  const Guards& guards = variant.guards;
  const Match& match = variant.match;
  if ((guards.arch && match.arch != facts.arch) ||
      (guards.grid && !(match.grid && *match.grid == facts.dims.grid)) ||
      (guards.block && !(match.block && *match.block == facts.dims.block)) ||
      (guards.sharedBytes && match.sharedBytes != facts.sharedBytes))
    return false;
  return std::ranges::all_of(
      match.args, [&](const ArgValue& arg) { return !guards.cover(arg) || isSame(facts, arg); });
}

void Chooser::look(size_t variant) {
  const Variant& one = variants_[variant];
  if (!isAllowed(one, facts_))
    return;
  const bool isLaunch = isSameLaunch(one.match, facts_);
  const bool isArch = one.match.arch.empty() || one.match.arch == facts_.arch;
  const Closeness closeness = !isArch    ? Closeness::OtherArch
                              : isLaunch ? Closeness::Same
                                         : Closeness::Nearest;
  // The same launch on another architecture comes before other launches there.
  const double nearness = isLaunch ? 1.0 : -distance(one.match, facts_);
  const auto rank = std::tuple(closeness, nearness, one.weight);
  const bool isBetter = best_.closeness == Closeness::None || rank > rank_ ||
                        (rank == rank_ && variant < best_.variant);
  if (!isBetter)
    return;
  rank_ = rank;
  best_ = {.variant = variant, .closeness = closeness, .likeness = likenessTo(one.match, facts_)};
}

Choice choose(std::span<const Variant> variants, const LaunchFacts& facts) {
  Chooser chooser(variants, facts);
  for (size_t i = 0; i < variants.size(); ++i)
    chooser.look(i);
  return chooser.best();
}

} // namespace mneme::tuned
