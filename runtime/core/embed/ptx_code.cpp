// Room core/embed: kernels and variables of PTX text. Only what stands outside of functions is
// looked at; directives that are not known are passed over.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "runtime/core/embed/code_reads.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::embed {
namespace {

bool isWordPart(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Splits text into words (`.entry`, `scale`, `9.0`), quoted texts and single signs; comments and
/// blanks are left out.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next() {
    skipBlanks();
    if (at_ == text_.size())
      return {};
    const size_t begin = at_;
    if (text_[at_] == '"') {
      const size_t end = text_.find('"', at_ + 1);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    } else {
      at_ += 1;
      if (isWordPart(text_[begin]) || text_[begin] == '.')
        while (at_ < text_.size() && isWordAt(at_))
          ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  /// Goes behind the sign that closes what was opened by the last one.
  void skipBlock(char open, char close) {
    for (uint64_t depth = 1; depth > 0;) {
      const std::string_view word = next();
      if (word.empty())
        return;
      depth += word[0] == open ? 1 : 0;
      depth -= word[0] == close ? 1 : 0;
    }
  }

private:
  bool isWordAt(size_t at) const {
    return isWordPart(text_[at]) ||
           (text_[at] == '.' && at + 1 < text_.size() && isDigit(text_[at + 1]));
  }

  void skipBlanks() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      const std::string_view rest = text_.substr(at_);
      const bool isLine = rest.starts_with("//");
      if (!isLine && !rest.starts_with("/*"))
        return;
      const size_t end = text_.find(isLine ? "\n" : "*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + (isLine ? 1 : 2);
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<uint64_t> numberOf(std::string_view word) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return number;
}

/// 4 of ".u32", ".f32", ".bf16x2"; nothing if the word is not such a type.
std::optional<uint64_t> bytesOfType(std::string_view word) {
  const size_t letters = std::min(word.find_first_of("0123456789"), word.size());
  const std::string_view kind = word.substr(0, letters);
  if (kind != ".b" && kind != ".u" && kind != ".s" && kind != ".f" && kind != ".bf")
    return std::nullopt;
  const size_t times = std::min(word.find('x', letters), word.size());
  const auto bits = numberOf(word.substr(letters, times - letters));
  const auto lanes = times < word.size() ? numberOf(word.substr(times + 1)) : 1;
  constexpr uint64_t kMost = 1024;
  if (!bits || !lanes || *bits > kMost || *lanes > kMost || *bits % 8 != 0)
    return std::nullopt;
  return *bits / 8 * *lanes;
}

constexpr uint64_t kHandleBytes = 8;
bool isHandle(std::string_view word) {
  return word == ".texref" || word == ".samplerref" || word == ".surfref";
}

/// A parameter or variable: `.align 8 .b8 name[24]`.
struct Declaration {
  std::string_view name;
  uint64_t elementBytes = 0;
  uint64_t alignBytes = 0;
  std::optional<uint64_t> elements = 1; ///< nothing: as many as its initialiser has

  std::optional<uint64_t> sizeBytes() const {
    uint64_t size = 0;
    if (!elements || elementBytes == 0 || __builtin_mul_overflow(elementBytes, *elements, &size))
      return std::nullopt;
    return size;
  }
};

class Reader {
public:
  explicit Reader(std::string_view text) : scanner_(text) {}

  DeviceCode read() {
    code_.form = CodeForm::Ptx;
    for (advance(); !word_.empty(); advance())
      readWord();
    for (const size_t caller : callers_)
      code_.kernels[caller].unrecordedReads.insert(ofFunctions_.begin(), ofFunctions_.end());
    return std::move(code_);
  }

private:
  void advance() { word_ = scanner_.next(); }
  bool isAt(char sign) const { return word_.size() == 1 && word_[0] == sign; }

  void readWord() {
    if (word_ == ".target") {
      advance();
      code_.architecture = word_;
    } else if (word_ == ".extern") {
      isExtern_ = true;
    } else if (word_ == ".entry") {
      readEntry();
    } else if (word_ == ".global" || word_ == ".const") {
      readVariables(word_ == ".const");
    } else if (isAt('{')) {
      readBody(ofFunctions_);
    } else if (isAt('(')) {
      scanner_.skipBlock('(', ')');
    }
    if (isAt(';') || isAt('{'))
      isExtern_ = false;
  }

  /// From the word behind a state space up to the name and its dimensions.
  Declaration readDeclaration() {
    Declaration found;
    bool isPointee = false;
    while (!word_.empty() && word_[0] == '.') {
      const std::string_view directive = word_;
      advance();
      if (directive == ".ptr") {
        isPointee = true; // what follows is about memory that it points to
      } else if (directive == ".align") {
        if (!isPointee)
          found.alignBytes = numberOf(word_).value_or(0);
        advance();
      } else if (directive == ".v2" || directive == ".v4" || directive == ".v8") {
        vector_ = static_cast<uint64_t>(directive[2] - '0');
      } else if (directive == ".attribute" && isAt('(')) {
        scanner_.skipBlock('(', ')');
        advance();
      } else if (const auto bytes = isHandle(directive) ? kHandleBytes : bytesOfType(directive)) {
        found.elementBytes = *bytes * std::exchange(vector_, 1);
      }
    }
    readName(found);
    return found;
  }

  void readName(Declaration& found) {
    found.name = word_;
    if (found.alignBytes == 0)
      found.alignBytes = std::max<uint64_t>(found.elementBytes, 1);
    advance();
    while (isAt('[')) {
      advance();
      const auto count = numberOf(word_);
      uint64_t product = 0;
      const bool isKnown =
          count && found.elements && !__builtin_mul_overflow(*found.elements, *count, &product);
      found.elements = isKnown ? std::optional(product) : std::nullopt;
      while (!word_.empty() && !isAt(']'))
        advance();
      advance();
    }
  }

  void readEntry() {
    advance();
    DeviceKernel kernel;
    kernel.name = word_;
    kernel.parameters.emplace();
    advance();
    if (isAt('('))
      readParameters(kernel);
    while (!word_.empty() && !isAt('{') && !isAt(';')) {
      const bool isExact = word_ == ".reqntid", isBound = isExact || word_ == ".maxntid";
      advance();
      if (isBound)
        kernel.maxThreads = readThreads();
      if (isExact)
        kernel.exactThreads = kernel.maxThreads;
    }
    if (!isAt('{'))
      return; // declared only
    if (readBody(kernel.unrecordedReads))
      callers_.push_back(code_.kernels.size());
    kernel.writesNothing = !bodyWrites_;
    code_.kernels.push_back(std::move(kernel));
  }

  /// Returns whether functions are called. A modifier may belong to the word of its instruction
  /// ("tex.1d") or be one of its own ("suld", ".b").
  bool readBody(Reads& reads) {
    bool calls = false;
    bodyWrites_ = false;
    std::string_view previous;
    for (uint64_t depth = 1; depth > 0; previous = word_) {
      advance();
      if (word_.empty())
        break;
      depth += isAt('{') ? 1 : 0;
      depth -= isAt('}') ? 1 : 0;
      calls = calls || word_ == "call";
      noteFunction(word_, reads);
      if (mayWrite(word_.substr(0, word_.find('.'))))
        bodyWrites_ = true;
      if (word_[0] == '%')
        notePtx(word_, reads);
      else if (word_[0] == '.')
        notePtx(previous, reads);
      else if (const size_t point = word_.find('.'); point != std::string_view::npos)
        notePtx(word_.substr(0, point), reads);
    }
    return calls;
  }

  void readParameters(DeviceKernel& kernel) {
    uint64_t end = 0;
    for (advance(); !word_.empty() && !isAt(')');) {
      if (word_ != ".param") {
        advance();
        continue;
      }
      advance();
      const Declaration declared = readDeclaration();
      const std::optional<uint64_t> size = declared.sizeBytes();
      constexpr uint64_t kMost = 1 << 20; // above any kernel's arguments
      if (!size || *size > kMost || declared.alignBytes > kMost || !kernel.parameters) {
        kernel.parameters.reset();
        continue;
      }
      end = (end + declared.alignBytes - 1) / declared.alignBytes * declared.alignBytes;
      kernel.parameters->push_back({end, *size});
      end += *size;
    }
    advance();
  }

  /// Up to three numbers with commas between them.
  uint32_t readThreads() {
    uint64_t threads = 1;
    for (auto count = numberOf(word_); count; count = numberOf(word_)) {
      threads *= std::min<uint64_t>(*count, UINT16_MAX);
      advance();
      if (!isAt(','))
        break;
      advance();
    }
    return static_cast<uint32_t>(std::min<uint64_t>(threads, UINT32_MAX));
  }

  /// Several may be declared at once: `.global .u32 a, b[4];`.
  void readVariables(bool isConstant) {
    advance();
    Declaration declared = readDeclaration();
    for (;;) {
      if (isAt('='))
        readInitializer(declared);
      if (const auto size = declared.sizeBytes(); size && !isExtern_ && !declared.name.empty())
        code_.variables.push_back({std::string(declared.name), *size, isConstant});
      if (!isAt(','))
        return;
      declared.elements = 1;
      advance();
      readName(declared);
    }
  }

  /// Counts the values for a variable of a size that is not written down.
  void readInitializer(Declaration& declared) {
    uint64_t values = 0;
    uint64_t depth = 0;
    for (advance(); !word_.empty() && !isAt(';') && (depth > 0 || !isAt(',')); advance()) {
      depth += isAt('{') ? 1 : 0;
      depth -= isAt('}') && depth > 0 ? 1 : 0;
      values += isWordPart(word_[0]) ? 1 : 0;
    }
    if (!declared.elements)
      declared.elements = values;
  }

  Scanner scanner_;
  std::string_view word_;
  uint64_t vector_ = 1;
  bool isExtern_ = false;
  bool bodyWrites_ = false;     ///< the one that was read last
  Reads ofFunctions_;           ///< which any kernel that calls some may call
  std::vector<size_t> callers_; ///< kernels
  DeviceCode code_;
};

} // namespace

std::optional<DeviceCode> readPtx(Bytes bytes) {
  if (!isPtx(bytes))
    return std::nullopt;
  return Reader(textAt(bytes, 0)).read();
}

} // namespace mneme::embed
