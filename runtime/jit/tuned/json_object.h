// Room jit/tuned: reads a JSON object that users or other tools may have written. A missing key is
// not an error. A value of the wrong kind is; the message names its place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mneme::tuned {

/// A view of one object; the document lives as long as any view of it. Every reader throws
/// Error{ArtifactCorrupt} if the key exists and its value has another kind.
class JsonObject {
public:
  /// `place` begins every message. \throws Error{ArtifactCorrupt} if `value` is not an object.
  JsonObject(nlohmann::json value, std::string place);

  /// False also for null.
  bool has(const char* key) const { return find(key) != nullptr; }

  std::optional<bool> boolean(const char* key) const;
  /// The same, but returns nothing for values that are not booleans.
  std::optional<bool> booleanIfAny(const char* key) const;
  std::optional<std::string> text(const char* key) const;
  /// Returns `otherwise` also for values that are not text.
  std::string textOr(const char* key, const std::string& otherwise) const;
  std::optional<uint64_t> integer(const char* key, uint64_t low, uint64_t high) const;
  std::optional<int64_t> signedInteger(const char* key) const;
  std::optional<double> real(const char* key) const;
  std::optional<JsonObject> object(const char* key) const;
  /// Elements of an array; none if the key is missing.
  std::vector<JsonObject> objects(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::vector<uint64_t> integers(const char* key, uint64_t high) const;

  /// \throws Error{ArtifactCorrupt} "<place>: <key> <why>"
  [[noreturn]] void refuse(const char* key, const std::string& why) const;
  /// The same, which says what the value is (or that it is missing) and what it has to be.
  [[noreturn]] void refuseValue(const char* key, const std::string& wanted) const;

private:
  using Json = nlohmann::json;
  JsonObject(std::shared_ptr<const Json> document, const Json* value, std::string place);
  const Json* find(const char* key) const;
  const Json* findArray(const char* key) const;

  std::shared_ptr<const Json> document_;
  const Json* value_;
  std::string place_;
};

} // namespace mneme::tuned
