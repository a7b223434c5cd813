// Text of PTX in, instructions with their types and operands out (ptx.h).
#include <algorithm>
#include <cctype>

#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

std::string withoutComments(StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.consume_front("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.consume_front("/*")) {
      size_t end = text.find("*/");
      text = end == StringRef::npos ? StringRef() : text.drop_front(end + 2);
      result += ' ';
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

/// Splits at `separator` outside brackets.
std::vector<std::string> splitTop(StringRef text, char separator) {
  std::vector<std::string> pieces;
  int depth = 0;
  std::string current;
  for (char c : text) {
    depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    if (c == separator && depth == 0) {
      pieces.push_back(StringRef(current).trim().str());
      current.clear();
    } else {
      current += c;
    }
  }
  if (!StringRef(current).trim().empty())
    pieces.push_back(StringRef(current).trim().str());
  return pieces;
}

/// Statements end at ';'. Braces that open a scope stand at the start of a statement; braces of
/// vector operands do not.
std::vector<std::string> statements(const std::string& text) {
  std::vector<std::string> result;
  std::string current;
  for (char c : text) {
    bool atStart = StringRef(current).trim().empty();
    if (atStart && (c == '{' || c == '}'))
      continue;
    if (c == ';') {
      if (!atStart)
        result.push_back(StringRef(current).trim().str());
      current.clear();
      continue;
    }
    current += c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
  }
  if (StringRef rest = StringRef(current).trim(); !rest.empty())
    result.push_back(rest.str());
  return result;
}

void parseRegisters(StringRef statement, PtxProgram& program) {
  StringRef rest = statement.drop_front(4).trim(); // ".reg"
  auto [typeText, names] = rest.split(' ');
  std::optional<PtxType> type = PtxType::parse(typeText.drop_front(1));
  if (!type)
    throw statement.str();
  for (std::string name : splitTop(names, ',')) {
    size_t open = name.find('<');
    if (open == std::string::npos) {
      program.registers[name] = *type;
      continue;
    }
    unsigned count = 0;
    StringRef(name)
        .substr(open + 1)
        .take_while([](char c) { return std::isdigit(c); })
        .getAsInteger(10, count);
    for (unsigned index = 0; index < std::min(count, 1024u); ++index)
      program.registers[name.substr(0, open) + std::to_string(index)] = *type;
  }
}

PtxInstruction parseInstruction(StringRef statement) {
  PtxInstruction instruction;
  instruction.text = statement.str();
  if (statement.consume_front("@")) {
    instruction.isGuardNegated = statement.consume_front("!");
    auto [guard, rest] = statement.split(' ');
    instruction.guard = guard.str();
    statement = rest.trim();
  }
  // No blank is needed before a register or a bracket.
  const size_t end = std::min(statement.find_first_of(" $%{["), statement.size());
  const StringRef mnemonic = statement.take_front(end), operands = statement.drop_front(end);
  for (const std::string& part : splitTop(mnemonic, '.'))
    instruction.parts.push_back(part);
  for (const std::string& operand : splitTop(operands, ','))
    instruction.operands.push_back(operand);
  if (instruction.parts.empty() || StringRef(mnemonic).ends_with(":"))
    throw statement.str();
  return instruction;
}

} // namespace

std::optional<PtxType> PtxType::parse(StringRef text) {
  if (text == "pred")
    return PtxType{'p', 1, 1};
  unsigned lanes = text.consume_back("x2") ? 2 : 1;
  PtxType type{'b', 0, lanes};
  if (text.consume_front("bf"))
    type.kind = 'h';
  else if (!text.empty() && StringRef("busf").contains(text.front())) {
    type.kind = text.front();
    text = text.drop_front();
  } else
    return std::nullopt;
  if (text.getAsInteger(10, type.bits))
    return std::nullopt;
  bool isFloat = type.kind == 'f' || type.kind == 'h';
  bool known = type.bits == 16 || (type.kind != 'h' && (type.bits == 32 || type.bits == 64)) ||
               (!isFloat && type.bits == 8) || (type.kind == 'b' && type.bits == 128);
  if (!known)
    return std::nullopt;
  return type;
}

Type* PtxType::ir(LLVMContext& context) const {
  Type* type = IntegerType::get(context, bits);
  if (kind == 'h')
    type = Type::getBFloatTy(context);
  else if (kind == 'f')
    type = bits == 16 ? Type::getHalfTy(context)
                      : (bits == 32 ? Type::getFloatTy(context) : Type::getDoubleTy(context));
  return lanes == 1 ? type : FixedVectorType::get(type, lanes);
}

bool PtxInstruction::take(StringRef part) {
  auto found = std::find(parts.begin(), parts.end(), part);
  if (found == parts.end())
    return false;
  parts.erase(found);
  return true;
}

int PtxInstruction::takeAny(std::initializer_list<StringRef> choices) {
  int index = 0;
  for (StringRef choice : choices) {
    if (take(choice))
      return index;
    ++index;
  }
  return -1;
}

std::optional<PtxType> PtxInstruction::takeType() {
  for (auto part = parts.begin(); part != parts.end(); ++part)
    if (std::optional<PtxType> type = PtxType::parse(*part)) {
      parts.erase(part);
      return type;
    }
  return std::nullopt;
}

std::optional<Rounding> PtxInstruction::takeRounding() {
  switch (takeAny({"rn", "rz", "rm", "rp"})) {
  case 0:
    return Rounding::Nearest;
  case 1:
    return Rounding::Zero;
  case 2:
    return Rounding::Down;
  case 3:
    return Rounding::Up;
  default:
    return std::nullopt;
  }
}

PtxProgram parsePtx(StringRef text) {
  PtxProgram program;
  for (const std::string& statement : statements(withoutComments(text))) {
    if (StringRef(statement).starts_with(".reg"))
      parseRegisters(statement, program);
    else if (statement.front() == '.')
      throw statement;
    else
      program.instructions.push_back(parseInstruction(statement));
  }
  return program;
}

} // namespace mneme::compile::cpu
