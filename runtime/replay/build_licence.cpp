#include "runtime/replay/build_licence.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/core/abi/read_words.h"
#include "runtime/core/artifact/recorded_reads.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

namespace {

/// Beyond it, what differs is more than the order of a sum or a fused operation makes of numbers of
/// this type: 16 units in the last place of short ones.
double roundingLimit(const std::string& dataType) {
  if (dataType == "f16")
    return 16 * 0x1p-10;
  return dataType == "bf16" ? 16 * 0x1p-7 : 1e-3;
}

/// The program's own pipeline, where another one was asked for.
std::string ownPipeline(const BuildLicence& licence, const std::string& passes,
                        uint32_t codegenOpt) {
  const std::string own = "default<O" + licence.level + ">";
  const std::string level = licence.level == "s" || licence.level == "z" ? "2" : licence.level;
  if (licence.level.empty() || (passes == own && level == std::to_string(codegenOpt)))
    return "";
  return "The program's own pipeline is " + own + " with -co " + level +
         ", which a replay without PASSES takes.";
}

/// The suggested rules as options: "--tolerance a=f64:ulp:1 --tolerance b=f64:ulp:2 accept it".
std::string whatAccepts(const Result& result) {
  const std::string option = "--tolerance ";
  std::string text = option;
  for (const char c : result.suggestion)
    text += c == ' ' ? " " + option : std::string(1, c);
  const bool isOne = result.suggestion.find(' ') == std::string::npos;
  return text + (isOne ? " accepts it" : " accept it");
}

std::string explainRounding(const BuildLicence& licence, const Result& result) {
  std::string text = "Differs by up to " + std::to_string(result.maxUlp) + " ULP; the kernel was " +
                     "compiled with " +
                     (licence.allowsFastMath ? "-ffast-math or a part of it"
                                             : "-ffp-contract=fast, clang's default for kernels") +
                     ", so pipelines may round differently";
  if (!result.suggestion.empty())
    text += ": " + whatAccepts(result);
  return text + ".";
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
  return licence;
}

bool mayBeRounding(const BuildLicence& licence, const Result& result) {
  return (licence.allowsFastMath || licence.allowsFusing) && isRoundingSmall(result);
}

bool isRoundingSmall(const Result& result) {
  const bool isFloating =
      !result.mismatches.empty() &&
      std::all_of(result.mismatches.begin(), result.mismatches.end(), [](const Mismatch& mismatch) {
        return mismatch.dataType.starts_with("f") || mismatch.dataType.starts_with("bf");
      });
  if (!isFloating)
    return false;
  double limit = std::numeric_limits<double>::infinity();
  for (const Mismatch& mismatch : result.mismatches)
    limit = std::min(limit, roundingLimit(mismatch.dataType));
  return result.maxRelative > 0 && result.maxRelative <= limit;
}

std::string explainOrder(bool hasSums, bool isSeen, const Result& result) {
  std::string text = isSeen ? "Two replays of this binary differ: " : "";
  if (hasSums)
    text += std::string(isSeen ? "it" : "The kernel") +
            " adds up floating-point numbers by atomics, in another order in each run";
  else
    text += "what it leaves depends on the order of its threads";
  return text + (result.suggestion.empty() ? "" : ": " + whatAccepts(result)) + ".";
}

std::string explainFewUlp(const Result& result) {
  return "Only floating-point numbers differ, by up to " + std::to_string(result.maxUlp) +
         " ULP: " + whatAccepts(result) + ".";
}

void dropRecordedReads(std::vector<std::string>& reads, const std::string& device) {
  if (device == "cpu")
    std::erase_if(reads, artifact::isRecordedOnCpu);
}

std::string explainReads(const std::vector<std::string>& reads) {
  std::vector<std::string> others = reads;
  std::string text;
  if (std::erase(others, read_words::kLaunches) > 0)
    text =
        "The kernel launches kernels itself: a replay of code without IR launches them as well, in "
        "no fixed order, and code that is compiled from IR cannot.";
  if (others.empty())
    return text;
  std::string list;
  for (size_t i = 0; i < others.size(); ++i)
    list += (i == 0 ? "" : i + 1 < others.size() ? ", " : " and ") + others[i];
  return text + (text.empty() ? "" : " ") + "The kernel reads " + list +
         ", which a recording does not hold: what it leaves may be other "
         "in each run, and no replay can prove a pipeline right or wrong.";
}

std::vector<std::string> readsIn(const std::string& optionsJson) {
  const nlohmann::json json = nlohmann::json::parse(optionsJson, nullptr, false);
  std::vector<std::string> reads;
  if (json.is_object() && json.contains("unrecorded_reads"))
    for (const nlohmann::json& read : json["unrecorded_reads"])
      if (read.is_string())
        reads.push_back(read.get<std::string>());
  return reads;
}

std::string explainWrong(const BuildLicence& licence, const Result& result,
                         const std::string& passes, uint32_t codegenOpt) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() || sentence.empty() ? "" : " ") + sentence;
  };
  if (mayBeRounding(licence, result))
    add(explainRounding(licence, result));
  add(ownPipeline(licence, passes, codegenOpt));
  if (licence.mayReadUnset)
    add("The kernel may read a local variable that it never set, which has another value with each "
        "pipeline: build the program without NO_AUTO_VAR_INIT and -ftrivial-auto-var-init, so that "
        "the variable is zero, and record again.");
  if (licence.isLinked)
    add("Functions that the kernel calls of other units were compiled with its options, which may "
        "not "
        "be theirs.");
  if (!result.refusedOptions.empty()) {
    std::string options;
    for (const std::string& option : result.refusedOptions)
      options += (options.empty() ? "" : ", ") + option;
    add("The program was compiled with options that a replay does not follow: " + options + ".");
  }
  return text;
}

} // namespace mneme::replay
