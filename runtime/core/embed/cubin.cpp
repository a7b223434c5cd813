// Room core/embed: kernels and variables of a cubin (an ELF file with NVIDIA's sections). All input
// is validated: a damaged file yields fewer facts but never a crash.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/code_reads.h"
#include "runtime/core/embed/device_code.h"
#include "runtime/core/embed/device_runtime.h"

namespace mneme::embed {
namespace {

constexpr uint16_t kMachineCuda = 190;
/// In `st_other` of functions that the host can launch.
constexpr unsigned char kEntryFlag = 0x10;
/// Attributes are entries of 4 bytes: format, attribute, 16 bits of value; with this format the
/// value is the size of what follows.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kAttributeMaxThreads = 0x05; ///< three dimensions
constexpr uint8_t kAttributeBlock = 0x10;      ///< the same, which a launch must have
constexpr uint8_t kAttributeParameter = 0x17;
constexpr uint8_t kAttributeTotal = 0x19;     ///< bytes of all arguments
constexpr uint8_t kAttributeExternals = 0x0f; ///< symbols of functions that are elsewhere
constexpr uint8_t kAttributeRegisters = 0x2f; ///< of a function: its symbol, their number
constexpr uint8_t kAttributeStack = 0x12;     ///< the same for bytes of its least stack
constexpr uint8_t kAttributeRegisterLimit = 0x1b;
constexpr uint8_t kAttributeBarriers = 0x4c; ///< from version 8 of the ABI on
/// Before, they are in the flags of the section with a kernel's code.
constexpr unsigned kBarriersShift = 20;
constexpr uint32_t kBarriersMask = 0x7f;
constexpr unsigned kNewAbi = 8;
constexpr uint32_t kConstantBanks = 18;
constexpr uint32_t kNoRegisterLimit = 255; ///< and more: all that an instruction can name
/// Instead of the former in kernels with more than 4 KiB of arguments; flags in the upper half of
/// the last word.
constexpr uint8_t kAttributeLargeParameter = 0x45;
/// From this architecture on the section of a kernel's shared memory begins with what the system
/// keeps for itself.
constexpr unsigned kReservesShared = 90;
/// From this one on instructions are encoded as noteMachineCode() knows them.
constexpr unsigned kKnownEncoding = 70;
constexpr uint64_t kReservedSharedBytes = 1024;

/// Calls `visit(uint8_t attribute, uint16_t value, Bytes content)` for every entry.
template <typename Visit> void forEachAttribute(Bytes entries, const Visit& visit) {
  for (uint64_t at = 0; at + 4 <= entries.size(); at += 4) {
    const auto format = *valueAt<uint8_t>(entries, at);
    const auto attribute = *valueAt<uint8_t>(entries, at + 1);
    const auto value = *valueAt<uint16_t>(entries, at + 2);
    const Bytes rest = entries.subspan(at + 4);
    const uint64_t size = format == kFormatSized ? std::min<uint64_t>(value, rest.size()) : 0;
    visit(attribute, value, rest.first(size));
    at += size;
  }
}

/// What is known of a kernel's arguments, from the entries of its section.
class Parameters {
public:
  void note(uint8_t attribute, uint16_t value, Bytes content) {
    if (attribute == kAttributeTotal)
      totalBytes_ = value;
    const bool isLarge = attribute == kAttributeLargeParameter;
    const auto position = valueAt<uint16_t>(content, 4);
    const auto offset = valueAt<uint16_t>(content, 6);
    const auto packed = valueAt<uint32_t>(content, 8);
    if ((isLarge || attribute == kAttributeParameter) && position && offset && packed)
      byPosition_[*position] = {*offset, isLarge ? *packed & 0xffff : *packed >> 18};
  }

  /// Nothing if they do not lie one behind the other up to the last byte.
  std::optional<std::vector<DeviceParameter>> all() const {
    std::vector<DeviceParameter> result;
    uint64_t end = 0;
    for (const auto& [position, parameter] : byPosition_) {
      if (position != result.size() || parameter.offset < end)
        return std::nullopt;
      end = parameter.offset + parameter.sizeBytes;
      result.push_back(parameter);
    }
    if (totalBytes_.value_or(end) != end)
      return std::nullopt;
    return result;
  }

private:
  std::map<uint32_t, DeviceParameter> byPosition_;
  std::optional<uint64_t> totalBytes_; ///< of all, with what lies between them
};

class Cubin {
public:
  explicit Cubin(const elf::File& file) : file_(file) {
    // Version 8 of the ABI (CUDA 13) moved the architecture up by a byte.
    architecture_ = file.header().e_flags >> (isNewAbi() ? 8 : 0) & 0xff;
    for (const elf::Section& section : file.sections())
      sections_.emplace(section.name, &section);
    forEachAttribute(contentOf(".nv.info"), [&](uint8_t attribute, uint16_t, Bytes content) {
      const auto symbol = valueAt<uint32_t>(content, 0);
      const auto count = valueAt<uint32_t>(content, 4);
      if (!symbol || !count)
        return;
      if (attribute == kAttributeRegisters)
        registers_[*symbol] = *count;
      else if (attribute == kAttributeStack)
        stacks_[*symbol] = *count;
    });
  }

  DeviceCode read() {
    noteCalls();
    DeviceCode code;
    code.form = CodeForm::Cubin;
    code.architecture = "sm_" + std::to_string(architecture_);
    uint32_t index = 0;
    file_.forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
      const uint32_t number = index++;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= file_.sections().size())
        return;
      const std::string_view home = file_.sections()[symbol.st_shndx].name;
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && (symbol.st_other & kEntryFlag))
        code.kernels.push_back(kernel(std::string(name), number));
      else if (type == STT_OBJECT && (home == ".nv.constant3" || home.starts_with(".nv.global")) &&
               !device_runtime::hasVariable(name))
        code.variables.push_back({std::string(name), symbol.st_size, home == ".nv.constant3"});
    });
    return code;
  }

private:
  struct Function {
    std::string_view name;
    std::string_view home; ///< its section; empty if it is not in the image
    bool isKernel = false; ///< it can be launched, and is never called
    std::vector<uint32_t> callees = {};
  };

  /// Notes which functions call which, by symbol, as far as the image says.
  void noteCalls() {
    uint32_t index = 0;
    file_.forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
      const uint32_t number = index++;
      const bool isHere = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < file_.sections().size();
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        functions_[number] = {
            name, isHere ? std::string_view(file_.sections()[symbol.st_shndx].name) : "",
            isHere && (symbol.st_other & kEntryFlag) != 0};
    });
    const Bytes calls = contentOf(".nv.callgraph");
    for (uint64_t at = 0; at + 8 <= calls.size(); at += 8)
      if (const auto caller = functions_.find(*valueAt<uint32_t>(calls, at));
          caller != functions_.end())
        caller->second.callees.push_back(*valueAt<uint32_t>(calls, at + 4));
    for (auto& [number, function] : functions_)
      forEachAttribute(contentOf(".nv.info." + std::string(function.name)),
                       [&](uint8_t attribute, uint16_t, Bytes content) {
                         for (uint64_t at = 0;
                              attribute == kAttributeExternals && at + 4 <= content.size(); at += 4)
                           function.callees.push_back(*valueAt<uint32_t>(content, at));
                       });
  }

  Reads readsOf(uint32_t kernel) const {
    Reads reads;
    std::set<uint32_t> seen = {kernel};
    for (std::vector<uint32_t> open = {kernel}; !open.empty();) {
      const auto found = functions_.find(open.back());
      open.pop_back();
      if (found == functions_.end())
        continue;
      if (found->second.home.empty())
        noteFunction(found->second.name, reads);
      else if (architecture_ >= kKnownEncoding)
        noteMachineCode(contentOf(std::string(found->second.home)), reads);
      // Kernels are among the callees of any, where some kernel of the image launches them.
      for (const uint32_t callee : found->second.callees)
        if (!isKernel(callee) && seen.insert(callee).second)
          open.push_back(callee);
    }
    return reads;
  }

  bool isKernel(uint32_t symbol) const {
    const auto found = functions_.find(symbol);
    return found != functions_.end() && found->second.isKernel;
  }

  const elf::Section* find(const std::string& name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : found->second;
  }

  Bytes contentOf(const std::string& name) const {
    const elf::Section* section = find(name);
    return section ? file_.content(*section).value_or(Bytes()) : Bytes();
  }

  DeviceKernel kernel(std::string name, uint32_t symbol) const {
    DeviceKernel kernel;
    noteCode(name, kernel);
    if (find(".nv.info." + name)) {
      Parameters parameters;
      forEachAttribute(contentOf(".nv.info." + name),
                       [&](uint8_t attribute, uint16_t value, Bytes content) {
                         parameters.note(attribute, value, content);
                         noteAttribute(attribute, value, content, kernel);
                       });
      kernel.parameters = parameters.all();
    }
    if (const auto found = registers_.find(symbol); found != registers_.end())
      kernel.registers = found->second;
    if (const auto found = stacks_.find(symbol); found != stacks_.end())
      kernel.localBytes = found->second;
    kernel.staticSharedBytes = sharedBytesOf(name);
    kernel.unrecordedReads = readsOf(symbol);
    kernel.writesNothing = architecture_ >= kKnownEncoding && find(".text." + name) &&
                           !mayWrite(contentOf(".text." + name));
    kernel.name = std::move(name);
    return kernel;
  }

  /// Notes what the sections of a kernel tell by their headers.
  void noteCode(const std::string& name, DeviceKernel& kernel) const {
    if (const elf::Section* code = find(".text." + name)) {
      kernel.codeBytes = code->header.sh_size;
      kernel.barriers = isNewAbi() ? 0 : code->header.sh_flags >> kBarriersShift & kBarriersMask;
    }
    for (uint32_t bank = 0; bank < kConstantBanks; ++bank) {
      const std::string section = ".nv.constant" + std::to_string(bank);
      uint64_t size = 0;
      for (const elf::Section* found : {find(section), find(section + "." + name)})
        size += found ? found->header.sh_size : 0;
      if (size > 0)
        kernel.constantBytes[bank] = size;
    }
  }

  void noteAttribute(uint8_t attribute, uint16_t value, Bytes content, DeviceKernel& kernel) const {
    if (attribute == kAttributeMaxThreads)
      kernel.maxThreads = threadsIn(content);
    else if (attribute == kAttributeBlock)
      kernel.maxThreads = kernel.exactThreads = threadsIn(content);
    else if (attribute == kAttributeRegisterLimit && value < kNoRegisterLimit)
      kernel.registerLimit = value;
    else if (attribute == kAttributeBarriers && isNewAbi())
      kernel.barriers = value & 0xff;
  }

  bool isNewAbi() const { return file_.header().e_ident[EI_ABIVERSION] >= kNewAbi; }

  static uint32_t threadsIn(Bytes content) {
    uint32_t threads = 1;
    for (const uint64_t at : {0, 4, 8})
      threads *= valueAt<uint32_t>(content, at).value_or(1);
    return threads;
  }

  uint64_t sharedBytesOf(const std::string& name) const {
    const elf::Section* section = find(".nv.shared." + name);
    const uint64_t size = section ? section->header.sh_size : 0;
    return architecture_ < kReservesShared ? size : size - std::min(size, kReservedSharedBytes);
  }

  const elf::File& file_;
  unsigned architecture_ = 0;
  std::unordered_map<std::string_view, const elf::Section*> sections_;
  std::map<uint32_t, uint32_t> registers_; ///< by symbol
  std::map<uint32_t, uint32_t> stacks_;    ///< by symbol
  std::map<uint32_t, Function> functions_; ///< by symbol
};

} // namespace

std::optional<DeviceCode> readCubin(Bytes image) {
  const auto file = elf::File::in(image);
  if (!file || file->header().e_machine != kMachineCuda || !file->isWhole())
    return std::nullopt;
  return Cubin(*file).read();
}

} // namespace mneme::embed
