#include "runtime/core/base/grouped_notices.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace mneme {
namespace {

constexpr size_t kMaxKinds = 32;
constexpr size_t kMaxKnown = 1 << 16;
constexpr size_t kMaxSubjects = 3;

bool isWordPart(char one) { return std::isalnum(static_cast<unsigned char>(one)) != 0; }

/// Past the closing quote, if one opens at `at`; an apostrophe in a word opens nothing.
size_t pastQuoted(const std::string& text, size_t at) {
  if (text[at] != '\'' || (at > 0 && isWordPart(text[at - 1])))
    return at;
  for (size_t end = text.find('\'', at + 1); end != std::string::npos;
       end = text.find('\'', end + 1))
    if (end + 1 == text.size() || !isWordPart(text[end + 1]))
      return end + 1;
  return at;
}

/// The sentence without names in quotes and without words that have a digit in them.
std::string kindOf(const std::string& sentence) {
  std::string kind;
  for (size_t at = 0; at < sentence.size();) {
    if (const size_t past = pastQuoted(sentence, at); past != at) {
      kind += '\'';
      at = past;
      continue;
    }
    size_t end = at;
    bool hasDigit = false;
    for (; end < sentence.size() && isWordPart(sentence[end]); ++end)
      hasDigit = hasDigit || std::isdigit(static_cast<unsigned char>(sentence[end])) != 0;
    if (hasDigit)
      kind += '#';
    else
      kind.append(sentence, at, std::max<size_t>(end - at, 1));
    at = std::max(end, at + 1);
  }
  return kind;
}

} // namespace

bool Grouped::add(const std::string& sentence, const std::string& subject) {
  if (known_.size() < kMaxKnown && !known_.insert(std::hash<std::string>{}(sentence)).second)
    return false;
  const std::string kind = kinds_.size() < kMaxKinds ? kindOf(sentence) : "";
  const auto known = kinds_.try_emplace(kind, groups_.size()).first;
  if (known->second == groups_.size()) {
    groups_.push_back({.first = sentence});
    return true;
  }
  Group& group = groups_[known->second];
  ++group.others;
  if (!subject.empty() && group.subjects.size() < kMaxSubjects)
    group.subjects.push_back(subject);
  return false;
}

std::string Grouped::sentenceOf(const Group& group) {
  if (group.others == 0)
    return group.first;
  std::string text = group.first + " (and the like of " + std::to_string(group.others) + " more";
  for (size_t i = 0; i < group.subjects.size(); ++i)
    text += (i == 0 ? ": " : ", ") + group.subjects[i];
  const bool areAll = group.subjects.empty() || group.subjects.size() == group.others;
  return text + (areAll ? ")" : ", ...)");
}

std::vector<std::string> Grouped::sentences() const {
  std::vector<std::string> all;
  for (const Group& group : groups_)
    all.push_back(sentenceOf(group));
  return all;
}

std::vector<std::string> Grouped::repeats() const {
  std::vector<std::string> all;
  for (const Group& group : groups_)
    if (group.others > 0)
      all.push_back(sentenceOf(group));
  return all;
}

} // namespace mneme
