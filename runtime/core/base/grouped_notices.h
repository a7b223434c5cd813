// Room core/base: merges messages about many things that have the same reason into one line.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace mneme {

/// Groups sentences that differ only in quoted names and in numbers. Keeps a bounded number of
/// them. Not thread-safe.
class Grouped {
public:
  /// Adds a sentence. `subject` is what it is about, for lists. Returns whether it is the first of
  /// its group. A repeated sentence is not counted again.
  bool add(const std::string& sentence, const std::string& subject = "");

  bool isEmpty() const noexcept { return groups_.empty(); }
  /// Returns the first sentence of each group, with the number of the others and some of their
  /// subjects.
  std::vector<std::string> sentences() const;
  /// Returns the same for groups with more than one sentence.
  std::vector<std::string> repeats() const;

private:
  struct Group {
    std::string first;
    size_t others = 0;
    std::vector<std::string> subjects; ///< of the first few others
  };
  static std::string sentenceOf(const Group& group);

  std::map<std::string, size_t> kinds_; ///< place in groups_
  std::vector<Group> groups_;           ///< in the order in which they came
  std::unordered_set<size_t> known_;    ///< hashes of sentences
};

} // namespace mneme
