// Room replay: configurations, options and results as JSON, with the field names of docs/python.md.
#include "runtime/replay/replay.h"

#include <cfloat>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"

namespace mneme::replay {

namespace {

using Json = nlohmann::ordered_json;
using Setters = std::map<std::string, std::function<void(const Json&)>>;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

Json parseObject(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    refuse(std::string("the ") + what + " is not a JSON object");
  return json;
}

/// Hands every key of `json` to its setter.
void readKeys(const Json& json, const char* what, const Setters& setters) {
  for (const auto& [key, value] : json.items()) {
    const auto setter = setters.find(key);
    if (setter == setters.end())
      refuse(std::string("the ") + what + " has an unknown key '" + key + "'");
    try {
      setter->second(value);
    } catch (const Json::exception&) {
      refuse(std::string("the ") + what + " has a wrong value for '" + key + "': " + value.dump());
    }
  }
}

uint64_t unsignedOf(const Json& value, const char* key, uint64_t limit) {
  if (value.is_number_unsigned() && value.get<uint64_t>() <= limit)
    return value.get<uint64_t>();
  if (value.is_number_integer() && value.get<int64_t>() >= 0 &&
      static_cast<uint64_t>(value.get<int64_t>()) <= limit)
    return static_cast<uint64_t>(value.get<int64_t>());
  refuse(std::string("'") + key + "' has to be a whole number from 0 to " + std::to_string(limit) +
         ", not " + value.dump());
}

uint32_t unsigned32Of(const Json& value, const char* key) {
  return static_cast<uint32_t>(unsignedOf(value, key, UINT32_MAX));
}

void take(bool& target, const Json& value, const char*, uint64_t) { target = value.get<bool>(); }
void take(std::string& target, const Json& value, const char*, uint64_t) {
  target = value.get<std::string>();
}
void take(uint32_t& target, const Json& value, const char* key, uint64_t high) {
  target = static_cast<uint32_t>(unsignedOf(value, key, high));
}

/// Null stands for none, which is zero.
double positiveOf(const Json& value, const char* key) {
  const double number = value.is_null() ? 0.0 : value.get<double>();
  if (!(number >= 0) || !std::isfinite(number))
    refuse(std::string("'") + key + "' has to be a number of zero or more, not " + value.dump());
  return number;
}

artifact::Dim3 dimsOf(const Json& value, const char* key) {
  if (!value.is_object())
    refuse(std::string("'") + key + "' has to be an object {\"x\", \"y\", \"z\"}");
  artifact::Dim3 dims;
  readKeys(value, key,
           {{"x", [&](const Json& v) { dims.x = unsigned32Of(v, "x"); }},
            {"y", [&](const Json& v) { dims.y = unsigned32Of(v, "y"); }},
            {"z", [&](const Json& v) { dims.z = unsigned32Of(v, "z"); }}});
  return dims;
}

Json jsonOf(const artifact::Dim3& dims) { return {{"x", dims.x}, {"y", dims.y}, {"z", dims.z}}; }

double finite(double value) { return std::isfinite(value) ? value : DBL_MAX; }

Json orNull(std::optional<uint64_t> value) { return value ? Json(*value) : Json(); }

ToleranceRule ruleOf(const Json& value) {
  if (value.is_string())
    return parseToleranceRule(value.get<std::string>());
  if (!value.is_object())
    refuse("a tolerance has to be a text or an object, not " + value.dump());
  std::string region, text[5] = {"u8", "abs", "0", "none", "nan-equal"};
  Setters setters = {{"region", [&](const Json& v) { region = v.get<std::string>(); }},
                     {"threshold", [&](const Json& v) {
                        text[2] =
                            v.is_string() ? v.get<std::string>() : Json(v.get<double>()).dump();
                      }}};
  const std::pair<const char*, int> named[] = {{"type", 0}, {"kind", 1}, {"norm", 3}};
  for (const auto& [key, slot] : named)
    setters[key] = [&text, slot = slot](const Json& v) { text[slot] = v.get<std::string>(); };
  setters["nan"] = [&](const Json& v) {
    const std::string name = v.get<std::string>();
    text[4] = name.starts_with("nan-") ? name : "nan-" + name;
  };
  readKeys(value, "tolerance", setters);
  ToleranceRule rule =
      parseToleranceRule(text[0] + ":" + text[1] + ":" + text[2] + ":" + text[3] + ":" + text[4]);
  rule.region = region;
  return rule;
}

} // namespace

const char* nameOf(ResultClass resultClass) noexcept {
  switch (resultClass) {
  case ResultClass::Exact:
    return "exact";
  case ResultClass::WithinTolerance:
    return "within_tolerance";
  case ResultClass::Nondeterministic:
    return "nondeterministic";
  case ResultClass::Unreproducible:
    return "unreproducible";
  case ResultClass::FewUlp:
    return "few_ulp";
  case ResultClass::Wrong:
    return "wrong";
  case ResultClass::Failed:
    break;
  }
  return "failed";
}

std::string toJson(const Configuration& c) {
  Json json = {{"grid", jsonOf(c.grid)}, {"block", jsonOf(c.block)}, {"shared_mem", c.sharedBytes}};
#define MNEME_KNOB(type, member, key, otherwise, high, deployed) json[key] = c.member;
#define MNEME_OWN_KNOB(type, member, key, otherwise, high, deployed)                               \
  if (c.member != type(otherwise))                                                                 \
    json[key] = c.member;
#include "runtime/core/abi/knobs.def"
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Configuration configurationFromJson(const std::string& text) {
  const Json json = parseObject(text, "configuration");
  for (const char* key : {"grid", "block"})
    if (!json.contains(key))
      refuse(std::string("the configuration lacks '") + key + "'");
  Configuration c;
  Setters setters = {
      {"grid", [&](const Json& v) { c.grid = dimsOf(v, "grid"); }},
      {"block", [&](const Json& v) { c.block = dimsOf(v, "block"); }},
      {"shared_mem",
       [&](const Json& v) { c.sharedBytes = unsignedOf(v, "shared_mem", INT64_MAX); }},
      {"codegen_method", [](const Json&) {}}};
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  setters[key] = [&](const Json& v) { take(c.member, v, key, high); };
#include "runtime/core/abi/knobs.def"
  readKeys(json, "configuration", setters);
  return c;
}

Options optionsFromJson(const std::string& text) {
  const Json json = parseObject(text, "options");
  Options o;
  const auto flag = [](bool& target) { return [&](const Json& v) { target = v.get<bool>(); }; };
  readKeys(
      json, "options",
      {{"iterations", [&](const Json& v) { o.iterations = unsigned32Of(v, "iterations"); }},
       {"warmup", [&](const Json& v) { o.warmup = unsigned32Of(v, "warmup"); }},
       {"timeout", [&](const Json& v) { o.timeoutSeconds = positiveOf(v, "timeout"); }},
       {"cold_cache", flag(o.coldCache)},
       {"confidence", [&](const Json& v) { o.confidence = positiveOf(v, "confidence"); }},
       {"min_iterations",
        [&](const Json& v) { o.minIterations = unsigned32Of(v, "min_iterations"); }},
       {"max_iterations",
        [&](const Json& v) { o.maxIterations = unsigned32Of(v, "max_iterations"); }},
       {"time_budget", [&](const Json& v) { o.timeBudgetSeconds = positiveOf(v, "time_budget"); }},
       {"stop_above_ns",
        [&](const Json& v) { o.stopAboveNs = unsignedOf(v, "stop_above_ns", INT64_MAX); }},
       {"classify_wrong", flag(o.classifyWrong)},
       {"in_series", flag(o.inSeries)},
       {"probes_in_place", flag(o.probesInPlace)},
       {"in_place", flag(o.inPlace)},
       {"tolerances",
        [&](const Json& v) {
          if (!v.is_array())
            refuse("'tolerances' has to be a list");
          for (const Json& rule : v)
            o.tolerances.push_back(ruleOf(rule));
        }},
       {"counters", [&](const Json& v) { o.counters = v.get<std::vector<std::string>>(); }},
       {"want_ir", flag(o.wantIr)},
       {"want_assembly", flag(o.wantAssembly)},
       {"use_cache", flag(o.useCache)}});
  return o;
}

std::string toJson(const Result& r) {
  Json mismatches = Json::array();
  for (const Mismatch& m : r.mismatches)
    mismatches.push_back({{"region", m.region},
                          {"address", "0x" + toHex(m.address)},
                          {"offset", m.regionOffset},
                          {"element", m.element},
                          {"data_type", m.dataType},
                          {"expected", m.expected},
                          {"actual", m.actual},
                          {"differing", m.differing},
                          {"elements", m.elements}});
  Json counters = Json::object();
  for (const auto& [name, value] : r.counters)
    counters[name] = std::isfinite(value) ? Json(value) : Json();
  const Json json = {{"preprocess_ir_time", r.preprocessIrSeconds},
                     {"opt_time", r.optSeconds},
                     {"codegen_time", r.codegenSeconds},
                     {"obj_size", r.objectBytes},
                     {"exec_time", r.execNs},
                     {"verified", r.verified},
                     {"executed", r.executed},
                     {"failed", r.failed},
                     {"start_time", r.startTime},
                     {"end_time", r.endTime},
                     {"gpu_id", r.gpuId},
                     {"const_mem_usage", r.constBytes},
                     {"local_mem_usage", r.localBytes},
                     {"reg_usage", r.registers},
                     {"spill_bytes", orNull(r.spillBytes)},
                     {"shared_mem_usage", orNull(r.sharedBytes)},
                     {"error", r.error},
                     {"result_class", nameOf(r.resultClass)},
                     {"max_ulp", r.maxUlp},
                     {"max_relative", finite(r.maxRelative)},
                     {"max_absolute", finite(r.maxAbsolute)},
                     {"suggestion", r.suggestion},
                     {"rounding", r.isRounding},
                     {"unrecorded_reads", r.unrecordedReads},
                     {"note", r.note},
                     {"mismatches", mismatches},
                     {"device", r.device},
                     {"multiprocessors", r.multiprocessors},
                     {"part", r.part},
                     {"ir_hash", r.irHash},
                     {"image_hash", r.imageHash},
                     {"open_time", r.openSeconds},
                     {"restore_time", r.restoreSeconds},
                     {"verify_time", r.verifySeconds},
                     {"timer", r.timer},
                     {"median_ns", r.medianNs},
                     {"time_ci_ns", r.ciNs},
                     {"iterations_used", r.iterationsUsed},
                     {"cold_cache", r.isColdCache},
                     {"stopped_early", r.isStoppedEarly},
                     {"device_usable", r.isDeviceUsable},
                     {"device_open_time", r.deviceOpenSeconds},
                     {"upload_time", r.uploadSeconds},
                     {"code_from_cache", r.isCodeFromCache},
                     {"counters", counters},
                     {"counters_error", r.countersError},
                     {"in_place_ns", r.inPlaceNs},
                     {"launches", r.launches},
                     {"launched_ns", r.launchedNs}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace mneme::replay
