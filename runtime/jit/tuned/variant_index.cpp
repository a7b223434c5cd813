#include "runtime/jit/tuned/variant_index.h"

#include <algorithm>

namespace mneme::tuned {
namespace {

// More forms than writers ever mix: those variants are looked at one by one.
constexpr size_t kMaxForms = 16;

template <typename Value> void append(std::string& key, const Value& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Keys of one form have the same parts; the part whose length differs comes first.
std::string startOf(const std::string& arch) { return arch + '\0'; }

} // namespace

VariantIndex::VariantIndex(std::span<const Variant> variants) : variants_(variants) {
  for (uint32_t i = 0; i < variants.size(); ++i) {
    Form form = formOf(variants[i]);
    auto table = std::ranges::find(tables_, form, &Table::form);
    if (table == tables_.end() && tables_.size() < kMaxForms)
      table = tables_.insert(table, {.form = std::move(form)});
    const bool isListed = table != tables_.end();
    if (isListed)
      table->variants[keyOf(variants[i])].push_back(i);
    if (!isListed || !isBound(variants[i]))
      free_.push_back(i);
  }
}

VariantIndex::Form VariantIndex::formOf(const Variant& variant) {
  const Match& match = variant.match;
  Form form{.hasArch = !match.arch.empty(),
            .hasGrid = match.grid.has_value(),
            .hasBlock = match.block.has_value(),
            .hasShared = match.sharedBytes.has_value()};
  for (const ArgValue& arg : match.args)
    form.args.push_back({arg.index, uint32_t(arg.bytes.size()), arg.offset.value_or(0)});
  return form;
}

std::string VariantIndex::keyOf(const Form& form, const LaunchFacts& facts) {
  std::string key = startOf(form.hasArch ? facts.arch : "");
  if (form.hasGrid)
    append(key, facts.dims.grid);
  if (form.hasBlock)
    append(key, facts.dims.block);
  if (form.hasShared)
    append(key, facts.sharedBytes);
  for (const auto& [index, bytes, offset] : form.args)
    key.append(static_cast<const char*>(facts.args[index]) + offset, bytes);
  return key;
}

std::string VariantIndex::keyOf(const Variant& variant) {
  const Match& match = variant.match;
  std::string key = startOf(match.arch);
  if (match.grid)
    append(key, *match.grid);
  if (match.block)
    append(key, *match.block);
  if (match.sharedBytes)
    append(key, *match.sharedBytes);
  for (const ArgValue& arg : match.args)
    key.append(reinterpret_cast<const char*>(arg.bytes.data()), arg.bytes.size());
  return key;
}

/// Whether its guards allow the launch it was found for only.
bool VariantIndex::isBound(const Variant& variant) {
  const Match& match = variant.match;
  const Guards& guards = variant.guards;
  return (guards.arch || match.arch.empty()) && (guards.grid || !match.grid) &&
         (guards.block || !match.block) && (guards.sharedBytes || !match.sharedBytes) &&
         std::ranges::all_of(match.args, [&](const ArgValue& arg) { return guards.cover(arg); });
}

Choice VariantIndex::choose(const LaunchFacts& facts) const {
  Chooser chooser(variants_, facts);
  for (const Table& table : tables_)
    if (const auto found = table.variants.find(keyOf(table.form, facts));
        found != table.variants.end())
      for (const uint32_t variant : found->second)
        chooser.look(variant);
  // Nothing is nearer than what was found for this launch.
  if (chooser.best().closeness != Closeness::Same || tables_.size() == kMaxForms)
    for (const uint32_t variant : free_)
      chooser.look(variant);
  return chooser.best();
}

} // namespace mneme::tuned
