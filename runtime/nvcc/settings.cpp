#include "runtime/nvcc/settings.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "runtime/core/base/error.h"

namespace mneme::nvcc {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::InvalidArgument, sentence);
}

/// `text` with the value for '%', as words.
std::vector<std::string> filledIn(std::string_view text, const std::string& value) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    if (const size_t place = word.find('%'); place != std::string::npos)
      word.replace(place, 1, value);
    words.push_back(std::move(word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Reads the items one after the other.
class Reader {
public:
  Reader(Settings& settings, unsigned toolkit) : settings_(settings), toolkit_(toolkit) {}

  void read(const Item& item) {
    if (item.isUnknown)
      readUnknown(item);
    else if (!item.option)
      settings_.line.push_back({{}, item.text, language_});
    else
      readOption(item);
  }

  void finish() {
    // The last -x counts for all inputs, as nvcc has it.
    for (Entry& entry : settings_.line)
      if (!entry.input.empty())
        entry.language = language_;
    if (isListingCode_ || isListingArch_)
      settings_.question = isListingCode_ && isListingArch_ ? Question::ListBoth
                           : isListingCode_                 ? Question::ListCode
                                                            : Question::ListArch;
    if (!architecture_.empty())
      addArchitecture(settings_.targets, architecture_, codes_, toolkit_);
    else if (!codes_.empty())
      refuse("-code needs an -arch");
    settings_.isForLinkTime |= settings_.targets.isForLinkTime;
    if (!unknown_.empty() && settings_.question == Question::None)
      refuse("unknown option '" + unknown_ +
             "'; clang's own go behind -Xcompiler or -forward-unknown-to-host-compiler");
  }

private:
  void readUnknown(const Item& item) {
    // An option behind them may still have unknown options forwarded.
    settings_.line.push_back({{item.text}, {}, {}});
    if (unknown_.empty() && !forwards_)
      unknown_ = item.text;
  }

  void readOption(const Item& item) {
    const Option& option = *item.option;
    switch (option.becomes) {
    case Becomes::Refused:
      refuse(std::string(option.text) + ": '" + item.text + "'");
    case Becomes::Ignored:
      return;
    case Becomes::Words:
      if (option.takes == Takes::Nothing)
        emit(filledIn(option.text, ""));
      for (const std::string& value : item.values)
        emit(filledIn(option.text, value));
      return;
    case Becomes::Handled:
      break;
    }
    if (!readPhase(option.brief) && !readFlag(option.brief) && !readValue(option.brief, item))
      readList(option.brief, item.values);
  }

  void emit(std::vector<std::string> words) {
    settings_.line.push_back({std::move(words), {}, {}});
  }

  bool readPhase(std::string_view brief) {
    static const std::map<std::string_view, Phase> kPhases = {
        {"-cubin", Phase::Cubin},      {"-fatbin", Phase::Fatbin}, {"-ptx", Phase::Ptx},
        {"-E", Phase::Preprocess},     {"-M", Phase::Depend},      {"-MM", Phase::DependOnOwn},
        {"-c", Phase::Compile},        {"-dc", Phase::Compile},    {"-dw", Phase::Compile},
        {"-dlink", Phase::DeviceLink}, {"-link", Phase::Link},     {"-lib", Phase::Archive},
        {"-run", Phase::Link},
    };
    const auto found = kPhases.find(brief);
    if (found == kPhases.end())
      return false;
    settings_.phase = found->second;
    if (brief == "-dc" || brief == "-dw")
      settings_.isRelocatable = brief == "-dc";
    settings_.runs |= brief == "-run";
    return true;
  }

  bool readFlag(std::string_view brief) {
    const std::map<std::string_view, bool*> flags = {
        {"-G", &settings_.isDebug},
        {"-dlto", &settings_.isForLinkTime},
        {"-lto", &settings_.isForLinkTime},
        {"-dryrun", &settings_.isDryRun},
        {"-v", &settings_.isVerbose},
        {"-keep", &settings_.keeps},
        {"-save-temps", &settings_.keeps},
        {"-use_fast_math", &settings_.fast},
        {"-forward-unknown-to-host-compiler", &forwards_},
        {"-forward-unknown-to-host-linker", &forwards_},
        {"-forward-unknown-opts", &forwards_},
        {"-code-ls", &isListingCode_},
        {"-arch-ls", &isListingArch_},
    };
    if (const auto found = flags.find(brief); found != flags.end()) {
      *found->second = true;
      if (forwards_)
        unknown_.clear();
      return true;
    }
    if (brief == "-nodlink")
      settings_.linksDevice = false;
    else if (brief == "-h")
      settings_.question = Question::Help;
    else if (brief == "-V")
      settings_.question = Question::Version;
    else
      return false;
    return true;
  }

  bool readValue(std::string_view brief, const Item& item) {
    const std::map<std::string_view, std::string*> texts = {
        {"-o", &settings_.output},           {"-odir", &settings_.outputDirectory},
        {"-ccbin", &settings_.hostCompiler}, {"-arbin", &settings_.archiver},
        {"-std", &settings_.standard},       {"-keep-dir", &settings_.keepDirectory},
        {"-arch", &architecture_},
    };
    const std::map<std::string_view, std::optional<bool>*> truths = {
        {"-ftz", &settings_.flushes},
        {"-prec-div", &settings_.divides},
        {"-prec-sqrt", &settings_.takesRoot},
        {"-fmad", &settings_.contracts},
    };
    const std::string value = item.values.empty() ? "" : item.values.front();
    if (const auto found = texts.find(brief); found != texts.end())
      *found->second = value;
    else if (const auto truth = truths.find(brief); truth != truths.end())
      *truth->second = value == "true";
    else if (brief == "-rdc")
      settings_.isRelocatable = value == "true";
    else if (brief == "-x")
      readLanguage(value);
    else if (brief == "-cudart")
      settings_.runtime = oneOf(brief, value, {"none", "shared", "static"});
    else if (brief == "-default-stream")
      settings_.streamPerThread =
          oneOf(brief, value, {"legacy", "null", "per-thread"}) == "per-thread";
    else if (brief == "-dopt")
      settings_.optimisesDebug = oneOf(brief, value, {"on"}) == "on";
    else
      return false;
    return true;
  }

  void readList(std::string_view brief, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (brief == "-gencode")
        addGenerateCode(settings_.targets, value);
      else if (brief == "-code")
        codes_.push_back(value);
      else if (brief == "-Werror")
        readWarning(value);
      else
        for (const std::string& word : splitWords(value))
          readStepWord(brief, word);
    }
  }

  void readStepWord(std::string_view brief, const std::string& word) {
    if (brief == "-Xcompiler")
      readHostWord(word);
    else if (brief == "-Xptxas")
      emit({"-Xcuda-ptxas", word});
    else if (brief == "-Xnvlink")
      emit({"-Xoffload-linker", word});
    else if (brief == "-Xarchive")
      settings_.archiverOptions.push_back(word);
    else if (brief == "-run-args")
      settings_.runArguments.push_back(word);
  }

  void readHostWord(const std::string& word) {
    // -m64 is about both, and the only one of these that clang refuses to restrict.
    const bool isForHost = word.size() > 1 && word[0] == '-' && word != "-m64" &&
                           std::string_view("Ogmf").find(word[1]) != std::string_view::npos;
    emit(isForHost ? std::vector<std::string>{"-Xarch_host", word} : std::vector{word});
  }

  void readWarning(const std::string& kind) {
    if (kind == "all-warnings")
      emit({"-Werror"});
    else if (kind == "reorder" || kind == "deprecated-declarations")
      emit({"-Werror=" + kind});
    else // the other kinds are errors in clang, or it has no such warning
      oneOf("-Werror", kind,
            {"cross-execution-space-call", "default-stream-launch", "ext-lambda-captures-this",
             "missing-launch-bounds"});
  }

  void readLanguage(const std::string& value) {
    language_ = oneOf("-x", value, {"c", "c++", "cu"});
  }

  static std::string oneOf(std::string_view brief, const std::string& value,
                           const std::vector<std::string>& allowed) {
    std::string names;
    for (const std::string& name : allowed) {
      if (name == value)
        return value;
      names += (names.empty() ? "" : ", ") + name;
    }
    refuse("'" + std::string(brief) + "' has no value '" + value + "': " + names);
  }

  Settings& settings_;
  unsigned toolkit_;
  std::string language_;
  std::string architecture_;
  std::vector<std::string> codes_;
  std::string unknown_;
  bool forwards_ = false;
  bool isListingCode_ = false;
  bool isListingArch_ = false;
};

} // namespace

Settings readSettings(const std::vector<Item>& items, unsigned toolkit) {
  Settings settings;
  Reader reader(settings, toolkit);
  for (const Item& item : items)
    reader.read(item);
  reader.finish();
  return settings;
}

} // namespace mneme::nvcc
