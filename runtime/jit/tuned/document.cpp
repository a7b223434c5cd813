#include "runtime/jit/tuned/document.h"

#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::tuned {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 16;

/// Builds pieces out of the parser's events.
class Walker final : public nlohmann::json_sax<Json> {
public:
  Walker(const std::string& place, Visitor& visitor) : place_(place), visitor_(visitor) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; } // not in texts

  bool start_object(size_t) override { return open(Json::object(), false); }
  bool start_array(size_t) override {
    // Top object, kernel, "Mneme", "Variants".
    const bool isVariants = open_.size() == 3 && isAt(1, "Mneme") && isAt(2, "Variants");
    return open(Json::array(), isVariants);
  }
  bool key(string_t& key) override {
    checkDepth(open_.size());
    open_.back().key = std::move(key);
    const bool isOurs = open_.size() == 2 && isAt(1, "Mneme");
    const bool areVariants = open_.size() == 3 && isAt(1, "Mneme") && isAt(2, "Variants");
    if (open_.size() == 1 || isOurs || areVariants)
      visitor_.beginVariants();
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Error(ErrorCode::ArtifactCorrupt, place_ + " is not JSON: " + error.what());
  }

private:
  /// An object or array that has begun.
  struct Level {
    Json value;
    std::string key = {}; ///< of an object: what comes next
    size_t variants = 0;  ///< of an array of variants
    bool isVariants = false;
  };

  bool isAt(size_t level, std::string_view key) const {
    return open_[level].value.is_object() && open_[level].key == key;
  }

  void checkDepth(size_t depth) const {
    if (depth > kMaxDepth)
      throw Error(ErrorCode::ArtifactCorrupt, place_ + " is nested too deeply");
  }

  bool open(Json value, bool isVariants) {
    checkDepth(open_.size());
    if (open_.empty() && !value.is_object())
      refuseTop();
    open_.push_back({.value = std::move(value), .isVariants = isVariants});
    return true;
  }

  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return open_.empty() || add(std::move(value));
  }

  bool add(Json value) {
    checkDepth(open_.size());
    if (open_.empty())
      refuseTop();
    Level& level = open_.back();
    if (open_.size() == 1)
      visitor_.kernel(level.key, std::move(value));
    else if (level.isVariants)
      visitor_.variant(level.variants++, std::move(value));
    else if (level.value.is_object())
      level.value[level.key] = std::move(value);
    else
      level.value.push_back(std::move(value));
    return true;
  }

  [[noreturn]] void refuseTop() const {
    throw Error(ErrorCode::ArtifactCorrupt, place_ + " is not a JSON object");
  }

  const std::string& place_;
  Visitor& visitor_;
  std::vector<Level> open_; ///< outermost first
};

} // namespace

void walkDocument(const std::string& text, const std::string& place, Visitor& visitor) {
  Walker walker(place, visitor);
  Json::sax_parse(text, &walker);
}

} // namespace mneme::tuned
