// Room core/artifact (internal): typed access to JSON objects, with errors that name file and
// field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mneme::artifact {

/// \throws Error{ArtifactCorrupt} naming `file` unless `text` is one JSON object.
nlohmann::json parseJson(const std::string& text, const std::string& file);

/// Reads the whole text as a decimal number. Returns false if it is not one, or too large.
bool parseDecimal(const std::string& text, uint64_t& value) noexcept;

/// One JSON object of one file. Every accessor throws Error{ArtifactCorrupt} naming file and field
/// when the field is missing or of another type. `object` must outlive it.
class Fields {
public:
  Fields(const nlohmann::json& object, std::string file, std::string prefix);

  bool has(const char* name) const;
  std::vector<std::string> keys() const;
  uint64_t u64(const char* name) const;
  uint32_t u32(const char* name) const;
  bool boolean(const char* name) const;
  std::string text(const char* name) const;
  uint64_t address(const char* name) const; ///< "0x..." or a number
  std::vector<std::string> strings(const char* name) const;
  std::vector<bool> booleans(const char* name) const;
  std::vector<uint64_t> numbers(const char* name) const;
  Fields object(const char* name) const;
  std::vector<Fields> objects(const char* name) const;

  /// Returns the name of a file: a plain name if it lies in the directory of this file, else its
  /// path as given, absolute or relative to that directory. A file elsewhere is only read, never
  /// moved or deleted.
  std::string fileName(const char* name) const;
  std::vector<std::string> fileNames(const char* name) const;

  /// Refuses a value of the right type. \throws Error{ArtifactCorrupt}
  [[noreturn]] void refuse(const char* name, const std::string& what) const { fail(name, what); }

private:
  const nlohmann::json& at(const char* name) const;
  [[noreturn]] void fail(const char* name, const std::string& what) const;
  std::string checkedFileName(const char* name, const std::string& value) const;

  const nlohmann::json& object_;
  std::string file_;
  std::string prefix_;
};

} // namespace mneme::artifact
