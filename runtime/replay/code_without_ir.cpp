#include "runtime/replay/code_without_ir.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/replay/ptx_limits.h"

namespace mneme::replay {
namespace {

/// "a cubin"
std::string withArticle(const std::string& form) {
  return form == "cpu"      ? "an image for the CPU device"
         : form == "ptx"    ? "PTX"
         : form == "fatbin" ? "a fat binary"
                            : "a " + form;
}

std::string kernelOf(const artifact::KernelRecord& record) {
  return "kernel '" + record.demangledName + "' was recorded without IR (its code is " +
         withArticle(record.codeForm) + ")";
}

/// Whether a knob, by its key, changes code as it is recorded.
bool needsIr(const std::string& key, const std::string& form) {
  for (const char* idle : {"max_threads", "min_blocks_per_sm", "prune", "internalize",
                           "specialized_args"}) // without what they belong to
    if (key == idle)
      return false;
  return key != "max_registers" || form != "ptx";
}

/// What a configuration asks for that needs IR; empty if nothing.
std::string wantedCode(const artifact::KernelRecord& record, const Configuration& c,
                       const Options& options) {
  const Configuration usual;
#define MNEME_KNOB(type, member, key, otherwise, high, deployed)                                   \
  if (c.member != usual.member && needsIr(key, record.codeForm))                                   \
    return std::string("other ") + key;
#include "runtime/core/abi/knobs.def"
  if (!options.ir.empty())
    return "other IR";
  return options.wantIr ? "output of IR" : options.wantAssembly ? "output of assembly" : "";
}

/// 90 of "sm_90a"; 0 if there is no number.
unsigned numberOf(const std::string& architecture) {
  const size_t begin = architecture.find_first_of("0123456789");
  return begin == std::string::npos
             ? 0
             : static_cast<unsigned>(std::strtoul(architecture.c_str() + begin, nullptr, 10));
}

/// Machine code runs on GPUs of its generation that are not older.
bool runsCubin(const std::string& device, const std::string& built) {
  const unsigned number = numberOf(device), wanted = numberOf(built);
  return wanted == 0 || (wanted / 10 == number / 10 && wanted <= number);
}

} // namespace

void checkRunsOn(const artifact::KernelRecord& record, const device::Description& device) {
  if (hasIr(record))
    return;
  const bool isCpu = device.target.starts_with("cpu"), isForCpu = record.codeForm == "cpu";
  if (isCpu == isForCpu && (record.codeForm != "cubin" || runsCubin(device.target, record.arch)))
    return;
  const std::string needed = isForCpu ? "the CPU device"
                             : record.codeForm == "cubin" && !record.arch.empty()
                                 ? "a GPU of architecture " + record.arch
                                 : "an NVIDIA GPU";
  throw Error(ErrorCode::Unsupported,
              kernelOf(record) + ": it runs on " + needed + ", not on " +
                  (isCpu ? "the CPU device" : device.id + ", which is " + device.target));
}

void requireIr(const artifact::KernelRecord& record, const std::string& wanted) {
  if (!hasIr(record))
    throw Error(ErrorCode::Unsupported,
                kernelOf(record) +
                    ": it can be replayed with another grid, block or size of dynamic shared "
                    "memory" +
                    (record.codeForm == "ptx" ? " or limit of registers" : "") + ", but not with " +
                    wanted);
}

compile::Result recordedBuild(const artifact::KernelRecord& record,
                              const std::vector<std::byte>& image,
                              const Configuration& configuration, const Options& options) {
  if (const std::string wanted = wantedCode(record, configuration, options); !wanted.empty())
    requireIr(record, wanted);
  compile::Result result;
  result.image = configuration.maxRegisters == 0
                     ? image
                     : withRegisterLimit(image, record.kernelName, configuration.maxRegisters);
  const std::string hash = toHex(hash128(result.image));
  const size_t sizeBytes = result.image.size();
  result.statisticsJson = nlohmann::json{{"image_hash", hash}, {"obj_size", sizeBytes}}.dump();
  return result;
}

} // namespace mneme::replay
