#include "runtime/core/artifact/json_fields.h"

#include <charconv>
#include <filesystem>
#include <limits>

#include <nlohmann/json.hpp>

#include "runtime/core/artifact/names.h"
#include "runtime/core/base/error.h"

namespace mneme::artifact {

using nlohmann::json;

json parseJson(const std::string& text, const std::string& file) {
  json value = json::parse(text, nullptr, false);
  if (!value.is_object())
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + file + "' is not a JSON object" +
                    (text.empty() ? " (it is empty)" : " (truncated, or not a record of mneme)"));
  return value;
}

bool parseDecimal(const std::string& text, uint64_t& value) noexcept {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return !text.empty() && error == std::errc() && stop == end;
}

Fields::Fields(const json& object, std::string file, std::string prefix)
    : object_(object), file_(std::move(file)), prefix_(std::move(prefix)) {}

void Fields::fail(const char* name, const std::string& what) const {
  throw Error(ErrorCode::ArtifactCorrupt,
              "'" + file_ + "': field \"" + prefix_ + printable(name) + "\" " + what);
}

const json& Fields::at(const char* name) const {
  const auto found = object_.find(name);
  if (found == object_.end())
    fail(name, "is missing");
  return *found;
}

bool Fields::has(const char* name) const { return object_.contains(name); }

std::vector<std::string> Fields::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_.items())
    names.push_back(name);
  return names;
}

uint64_t Fields::u64(const char* name) const {
  const json& value = at(name);
  if (value.is_number_unsigned())
    return value.get<uint64_t>();
  if (value.is_number_integer() && value.get<int64_t>() >= 0)
    return static_cast<uint64_t>(value.get<int64_t>());
  fail(name, "is not a whole number");
}

uint32_t Fields::u32(const char* name) const {
  const uint64_t value = u64(name);
  if (value > std::numeric_limits<uint32_t>::max())
    fail(name, "is too large");
  return static_cast<uint32_t>(value);
}

bool Fields::boolean(const char* name) const {
  if (!at(name).is_boolean())
    fail(name, "is not true or false");
  return at(name).get<bool>();
}

std::string Fields::text(const char* name) const {
  if (!at(name).is_string())
    fail(name, "is not a text");
  return at(name).get<std::string>();
}

uint64_t Fields::address(const char* name) const {
  if (!at(name).is_string())
    return u64(name);
  const std::string digits = text(name);
  uint64_t value = 0;
  const char* begin = digits.data() + 2;
  const char* end = digits.data() + digits.size();
  if (!digits.starts_with("0x") || digits.size() == 2)
    fail(name, "is not a hexadecimal address");
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (error != std::errc() || stop != end)
    fail(name, "is not a hexadecimal address");
  return value;
}

std::vector<std::string> Fields::strings(const char* name) const {
  std::vector<std::string> values;
  if (!at(name).is_array())
    fail(name, "is not a list");
  for (const json& value : at(name)) {
    if (!value.is_string())
      fail(name, "is not a list of texts");
    values.push_back(value.get<std::string>());
  }
  return values;
}

std::vector<bool> Fields::booleans(const char* name) const {
  std::vector<bool> values;
  if (!at(name).is_array())
    fail(name, "is not a list");
  for (const json& value : at(name)) {
    if (!value.is_boolean() && !value.is_number_integer())
      fail(name, "is not a list of true and false");
    values.push_back(value.is_boolean() ? value.get<bool>() : value.get<int64_t>() != 0);
  }
  return values;
}

std::vector<uint64_t> Fields::numbers(const char* name) const {
  std::vector<uint64_t> values;
  if (!at(name).is_array())
    fail(name, "is not a list");
  for (const json& value : at(name)) {
    if (!value.is_number_unsigned())
      fail(name, "is not a list of whole numbers");
    values.push_back(value.get<uint64_t>());
  }
  return values;
}

Fields Fields::object(const char* name) const {
  if (!at(name).is_object())
    fail(name, "is not an object");
  return Fields(at(name), file_, prefix_ + name + ".");
}

std::vector<Fields> Fields::objects(const char* name) const {
  std::vector<Fields> values;
  if (!at(name).is_array())
    fail(name, "is not a list");
  for (const json& value : at(name)) {
    if (!value.is_object())
      fail(name, "is not a list of objects");
    values.emplace_back(value, file_, prefix_ + name + '[' + std::to_string(values.size()) + "].");
  }
  return values;
}

std::string Fields::checkedFileName(const char* name, const std::string& value) const {
  if (isPlainFileName(value))
    return value;
  const std::filesystem::path path(value);
  if (!isPlainFileName(path.filename().string()) || value.find('\0') != std::string::npos)
    fail(name, "names '" + printable(value) + "', which is not a file");
  const std::filesystem::path own = std::filesystem::absolute(file_).parent_path();
  std::error_code ignored;
  const bool isOwn = std::filesystem::equivalent((own / path).parent_path(), own, ignored);
  return isOwn ? path.filename().string() : value;
}

std::string Fields::fileName(const char* name) const { return checkedFileName(name, text(name)); }

std::vector<std::string> Fields::fileNames(const char* name) const {
  std::vector<std::string> values = strings(name);
  for (std::string& value : values)
    value = checkedFileName(name, value);
  return values;
}

} // namespace mneme::artifact
