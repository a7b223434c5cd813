// Room base: sentences about many things that have one reason become one line.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace mneme {

/// Sentences, grouped by what they say apart from names in quotes and from numbers. Holds a bounded
/// number of them, whatever comes. Not thread-safe.
class Grouped {
public:
  /// `subject` is what the sentence is about, for lists. Returns whether it is the first of its
  /// kind; a sentence that was there before counts no more.
  bool add(const std::string& sentence, const std::string& subject = "");

  bool isEmpty() const noexcept { return groups_.empty(); }
  /// Returns the first of each kind, with the number and some subjects of the others.
  std::vector<std::string> sentences() const;
  /// Returns the same for kinds that have more than one.
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
