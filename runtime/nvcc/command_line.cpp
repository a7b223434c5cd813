#include "runtime/nvcc/command_line.h"

#include <algorithm>
#include <optional>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::nvcc {
namespace {

/// Response files that name each other end here.
constexpr int kDeepest = 32;

/// What a word says: an option, perhaps with its value.
struct Match {
  const Option* option = nullptr;
  std::optional<std::string> value;
};

Match matchWord(const std::string& word) {
  if (const Option* const whole = findOption(word))
    return {whole, std::nullopt};
  if (const size_t sign = word.find('='); sign != std::string::npos)
    if (const Option* const named = findOption(word.substr(0, sign)))
      return {named, word.substr(sign + 1)};
  for (const Option& option : options()) {
    if (option.joins == Joins::Nothing || !word.starts_with(option.brief))
      continue;
    const char next = word[option.brief.size()];
    if (option.joins == Joins::Anything || (next >= '0' && next <= '9'))
      return {&option, word.substr(option.brief.size())};
  }
  return {};
}

class Parser {
public:
  std::vector<Item> items;

  void read(const std::vector<std::string>& words, int depth) {
    for (size_t at = 0; at < words.size(); ++at) {
      const std::string& word = words[at];
      if (word.size() > 1 && word.front() == '@') {
        readFile(word.substr(1), depth);
        continue;
      }
      if (word.size() < 2 || word.front() != '-') {
        items.push_back({nullptr, {}, word, false});
        continue;
      }
      const Match match = matchWord(word);
      if (!match.option) {
        items.push_back({nullptr, {}, word, true});
        continue;
      }
      std::optional<std::string> value = match.value;
      if (match.option->takes == Takes::Nothing) {
        if (value)
          throw Error(ErrorCode::InvalidArgument,
                      "'" + std::string(match.option->brief) + "' takes no value: '" + word + "'");
      } else if (!value) {
        if (at + 1 == words.size())
          throw Error(ErrorCode::InvalidArgument, "'" + word + "' needs a value behind it");
        value = words[++at];
      }
      add(*match.option, word, value, depth);
    }
  }

private:
  void add(const Option& option, const std::string& word, const std::optional<std::string>& value,
           int depth) {
    Item item{&option, {}, word, false};
    if (value && option.takes == Takes::List)
      item.values = splitList(*value);
    else if (value)
      item.values = {*value};
    if (option.takes == Takes::Truth && *value != "true" && *value != "false")
      throw Error(ErrorCode::InvalidArgument,
                  "'" + std::string(option.brief) + "' is true or false, not '" + *value + "'");
    if (option.brief == "-optf") {
      for (const std::string& name : item.values)
        readFile(name, depth);
      return;
    }
    items.push_back(std::move(item));
  }

  void readFile(const std::string& name, int depth) {
    if (depth == kDeepest)
      throw Error(ErrorCode::InvalidArgument, "the response file '" + name + "' names itself");
    read(splitWords(readTextFile(name)), depth + 1);
  }
};

} // namespace

std::vector<std::string> splitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool isOpen = false; // a word has begun, perhaps an empty one
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '\\' && quote != '\'' && at + 1 < text.size()) {
      // Within quotes a backslash means itself, unless it stands before one of these.
      if (quote && text[at + 1] != '"' && text[at + 1] != '\\')
        word += letter;
      word += text[++at];
      isOpen = true;
    } else if (quote ? letter == quote : letter == '"' || letter == '\'') {
      quote = quote ? 0 : letter;
      isOpen = true;
    } else if (!quote && (letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r')) {
      if (isOpen)
        words.push_back(std::move(word));
      word.clear();
      isOpen = false;
    } else {
      word += letter;
      isOpen = true;
    }
  }
  if (isOpen)
    words.push_back(std::move(word));
  return words;
}

std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '\\' && at + 1 < text.size() && text[at + 1] == ',') {
      parts.back() += text[++at];
    } else if (letter == ',' && !quote) {
      parts.emplace_back();
    } else {
      if (letter == quote)
        quote = 0;
      else if (!quote && (letter == '"' || letter == '\''))
        quote = letter;
      parts.back() += letter;
    }
  }
  std::erase(parts, "");
  return parts;
}

std::vector<Item> parseCommandLine(const std::vector<std::string>& words) {
  Parser parser;
  parser.read(words, 0);
  return std::move(parser.items);
}

} // namespace mneme::nvcc
