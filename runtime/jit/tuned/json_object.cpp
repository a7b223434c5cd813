#include "runtime/jit/tuned/json_object.h"

#include <cmath>

#include "runtime/core/base/error.h"

namespace mneme::tuned {
namespace {

constexpr size_t kMostShown = 40;

/// The value as in the file, short and in ASCII.
std::string shown(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', true);
  return text.size() > kMostShown ? text.substr(0, kMostShown) + "..." : text;
}

/// Values that are whole numbers, in range; -0 is signed. \returns nothing otherwise.
std::optional<uint64_t> wholeNumber(const nlohmann::json& value, uint64_t low, uint64_t high) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0))
    return std::nullopt;
  const auto number = value.get<uint64_t>();
  return number >= low && number <= high ? std::optional(number) : std::nullopt;
}

} // namespace

JsonObject::JsonObject(std::shared_ptr<const Json> document, const Json* value, std::string place)
    : document_(std::move(document)), value_(value ? value : document_.get()),
      place_(std::move(place)) {
  if (!value_->is_object())
    throw Error(ErrorCode::ArtifactCorrupt, place_ + " has to be an object");
}

JsonObject::JsonObject(nlohmann::json value, std::string place)
    : JsonObject(std::make_shared<const Json>(std::move(value)), nullptr, std::move(place)) {}

const JsonObject::Json* JsonObject::find(const char* key) const {
  const auto found = value_->find(key);
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

const JsonObject::Json* JsonObject::findArray(const char* key) const {
  const Json* value = find(key);
  if (value && !value->is_array())
    refuseValue(key, "an array");
  return value;
}

void JsonObject::refuse(const char* key, const std::string& why) const {
  throw Error(ErrorCode::ArtifactCorrupt, place_ + ": " + key + " " + why);
}

void JsonObject::refuseValue(const char* key, const std::string& wanted) const {
  const Json* value = find(key);
  refuse(key, value ? "is " + shown(*value) + " but has to be " + wanted : "is missing");
}

std::optional<bool> JsonObject::boolean(const char* key) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  if (!value->is_boolean())
    refuseValue(key, "true or false");
  return value->get<bool>();
}

std::optional<bool> JsonObject::booleanIfAny(const char* key) const {
  const Json* value = find(key);
  return value && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

std::optional<std::string> JsonObject::text(const char* key) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  if (!value->is_string())
    refuseValue(key, "a text");
  return value->get<std::string>();
}

std::string JsonObject::textOr(const char* key, const std::string& otherwise) const {
  const Json* value = find(key);
  return value && value->is_string() ? value->get<std::string>() : otherwise;
}

std::optional<uint64_t> JsonObject::integer(const char* key, uint64_t low, uint64_t high) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  const std::optional<uint64_t> number = wholeNumber(*value, low, high);
  if (!number)
    refuseValue(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return number;
}

std::optional<int64_t> JsonObject::signedInteger(const char* key) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t{INT64_MAX}))
    refuseValue(key, "a whole number of 64 bits");
  return value->get<int64_t>();
}

std::optional<double> JsonObject::real(const char* key) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>()))
    refuseValue(key, "a number");
  return value->get<double>();
}

std::optional<JsonObject> JsonObject::object(const char* key) const {
  const Json* value = find(key);
  if (!value)
    return std::nullopt;
  return JsonObject(document_, value, place_ + ", " + key);
}

std::vector<JsonObject> JsonObject::objects(const char* key) const {
  std::vector<JsonObject> result;
  if (const Json* array = findArray(key))
    for (const Json& element : *array) {
      std::string place = place_ + ", " + key + " " + std::to_string(result.size());
      result.push_back(JsonObject(document_, &element, std::move(place)));
    }
  return result;
}

std::vector<std::string> JsonObject::texts(const char* key) const {
  std::vector<std::string> result;
  if (const Json* array = findArray(key))
    for (const Json& element : *array) {
      if (!element.is_string())
        refuseValue(key, "an array of texts");
      result.push_back(element.get<std::string>());
    }
  return result;
}

std::vector<uint64_t> JsonObject::integers(const char* key, uint64_t high) const {
  std::vector<uint64_t> result;
  if (const Json* array = findArray(key))
    for (const Json& element : *array) {
      const std::optional<uint64_t> number = wholeNumber(element, 0, high);
      if (!number)
        refuseValue(key, "an array of whole numbers from 0 to " + std::to_string(high));
      result.push_back(*number);
    }
  return result;
}

} // namespace mneme::tuned
