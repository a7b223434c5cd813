#include "runtime/replay/build_licence.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/replay/replay.h"

namespace mneme::replay {

namespace {

/// Beyond it, what differs is more than the order of a sum or a fused operation makes of a float.
constexpr double kRoundingRelative = 1e-3;

/// The program's own pipeline, where another one was asked for.
std::string ownPipeline(const BuildLicence& licence, const std::string& passes) {
  const std::string own = "default<O" + licence.level + ">";
  if (licence.level.empty() || passes == own)
    return "";
  return " The program's own pipeline is " + own + ".";
}

std::string explainRounding(const BuildLicence& licence, const Result& result,
                            const std::string& passes) {
  std::string text = "Differs by up to " + std::to_string(result.maxUlp) + " ULP; the kernel was " +
                     "compiled with " +
                     (licence.allowsFastMath ? "-ffast-math or a part of it"
                                             : "-ffp-contract=fast, clang's default for kernels") +
                     ", so pipelines may round differently";
  if (!result.suggestion.empty())
    text += ": --tolerance " + result.suggestion + " accepts it";
  return text + "." + ownPipeline(licence, passes);
}

} // namespace

BuildLicence licenceOf(const std::string& optionsJson) {
  const nlohmann::json json = nlohmann::json::parse(optionsJson, nullptr, false);
  BuildLicence licence;
  if (!json.is_object())
    return licence;
  const auto flag = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
  };
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  licence.allowsFastMath = flag("fast_math") || flag("relaxed_math");
  licence.allowsFusing = text("fp_contract").starts_with("fast");
  licence.mayReadUnset = flag("unset_locals");
  licence.level = text("opt_level");
  if (const auto names = json.find("llvm_options"); names != json.end() && names->is_array())
    for (const nlohmann::json& name : *names)
      if (name.is_string())
        licence.llvmOptions.push_back(name.get<std::string>());
  return licence;
}

bool mayBeRounding(const BuildLicence& licence, const Result& result) {
  if (!licence.allowsFastMath && !licence.allowsFusing)
    return false;
  const bool isFloating =
      !result.mismatches.empty() &&
      std::all_of(result.mismatches.begin(), result.mismatches.end(), [](const Mismatch& mismatch) {
        return mismatch.dataType.starts_with("f") || mismatch.dataType.starts_with("bf");
      });
  return isFloating && result.maxRelative > 0 && result.maxRelative <= kRoundingRelative;
}

std::string explainWrong(const BuildLicence& licence, const Result& result,
                         const std::string& passes) {
  std::string text;
  if (mayBeRounding(licence, result))
    text = explainRounding(licence, result, passes);
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (licence.mayReadUnset)
    add("The kernel may read a local variable that it never set, which has another value with each "
        "pipeline: build the program with -ftrivial-auto-var-init=zero, add_mneme()'s default, and "
        "record again.");
  if (!licence.llvmOptions.empty()) {
    std::string names;
    for (const std::string& name : licence.llvmOptions)
      names += (names.empty() ? "-" : ", -") + name;
    add("The program was compiled with -mllvm options that a replay does not have: " + names + ".");
  }
  return text;
}

} // namespace mneme::replay
