#include "runtime/compiler/service/messages.h"

#include "runtime/core/base/hash.h"
#include "runtime/core/base/packing.h"

namespace mneme::compile {
namespace {

struct Head {
  char magic[8];
  uint64_t checksumLow;
  uint64_t checksumHigh;
};

constexpr char kRequestMagic[8] = {'M', 'N', 'E', 'M', 'E', 'J', 'Q', 'D'};
constexpr char kAnswerMagic[8] = {'M', 'N', 'E', 'M', 'E', 'J', 'A', '6'};

std::string sealed(const char (&magic)[8], const Packer& packer) {
  const Hash128 checksum = hash128(packer.packed());
  Head head = {};
  memcpy(head.magic, magic, sizeof head.magic);
  head.checksumLow = checksum.low;
  head.checksumHigh = checksum.high;
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes.append(reinterpret_cast<const char*>(packer.packed().data()), packer.packed().size());
  return bytes;
}

/// The packed fields; nothing if they are not whole.
std::optional<std::span<const std::byte>> opened(const char (&magic)[8],
                                                 std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head)
    return std::nullopt;
  memcpy(&head, bytes.data(), sizeof head);
  const auto fields = bytes.subspan(sizeof head);
  if (memcmp(head.magic, magic, sizeof head.magic) != 0 ||
      Hash128{head.checksumLow, head.checksumHigh} != hash128(fields))
    return std::nullopt;
  return fields;
}

/// The 32-bit numbers and flags of a request, in the order in which they are packed.
template <typename R, typename Visit> void visitNumbers(R& request, Visit&& visit) {
  visitCodeNumbers(request, visit);
  visit(request.mlir.isForGpu);
  for (unsigned axis = 0; axis < 3; ++axis) {
    visit(request.grid[axis]);
    visit(request.block[axis]);
  }
  visit(request.wantIr);
  visit(request.wantAssembly);
  visit(request.wantTrace);
  visit(request.wantShape);
  visit(request.wantElements);
  visit(request.wantCheck);
  visit(request.timeTraceGrain);
  visit(request.wantStages);
  visit(request.wantReasons);
}

} // namespace

std::string packRequest(const Request& request) {
  Packer packer;
  packer.add(uint64_t{request.modules.size()});
  for (const auto& module : request.modules)
    packer.add(bytesOf(module));
  packer.add(uint64_t{request.sourceCompiler.size()});
  for (const std::string& word : request.sourceCompiler)
    packer.add(bytesOf(word));
  packer.add(uint64_t{request.mlir.pipelines.size()});
  for (const std::string& pipeline : request.mlir.pipelines)
    packer.add(bytesOf(pipeline));
  for (const std::string* text :
       {&request.mlir.opt, &request.mlir.translate, &request.kernel, &request.target,
        &request.passes, &request.optionsJson, &request.compiler, &request.symbol})
    packer.add(bytesOf(*text));
  visitCodeTexts(request,
                 [&](const std::string&, const std::string& text) { packer.add(bytesOf(text)); });
  visitNumbers(request, [&](uint64_t number) { packer.add(number); });
  packer.add(uint64_t{request.specializedArgs.size()});
  for (const ArgValue& argument : request.specializedArgs) {
    packer.add(uint64_t{argument.index});
    packer.add(static_cast<uint64_t>(argument.content));
    packer.add(argument.offset ? uint64_t{*argument.offset} + 1 : uint64_t{0});
    packer.add(bytesOf(argument.bytes));
  }
  packer.add(uint64_t{request.lambdaValues.size()});
  for (const LambdaValue& lambda : request.lambdaValues) {
    packer.add(bytesOf(lambda.function));
    packer.add(uint64_t{lambda.slot});
    packer.add(uint64_t{lambda.offset});
    packer.add(uint64_t{lambda.argument});
    packer.add(lambda.place);
    packer.add(bytesOf(lambda.value));
  }
  packer.add(uint64_t{request.placedGlobals.size()});
  for (const GlobalPlace& place : request.placedGlobals) {
    packer.add(bytesOf(place.name));
    packer.add(place.address);
  }
  packer.add(uint64_t{request.plugins.size()});
  for (const PassPlugin& plugin : request.plugins) {
    packer.add(bytesOf(plugin.path));
    packer.add(plugin.contentHash);
  }
  return sealed(kRequestMagic, packer);
}

std::optional<Request> unpackRequest(std::span<const std::byte> bytes) {
  const auto fields = opened(kRequestMagic, bytes);
  if (!fields)
    return std::nullopt;
  Unpacker unpacker(*fields);
  Request request;
  request.modules.resize(unpacker.takeCount());
  for (auto& module : request.modules)
    unpacker.take(module);
  request.sourceCompiler.resize(unpacker.takeCount());
  for (std::string& word : request.sourceCompiler)
    unpacker.take(word);
  request.mlir.pipelines.resize(unpacker.takeCount());
  for (std::string& pipeline : request.mlir.pipelines)
    unpacker.take(pipeline);
  for (std::string* text :
       {&request.mlir.opt, &request.mlir.translate, &request.kernel, &request.target,
        &request.passes, &request.optionsJson, &request.compiler, &request.symbol})
    unpacker.take(*text);
  visitCodeTexts(request, [&](const std::string&, std::string& text) { unpacker.take(text); });
  visitNumbers(request, [&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(unpacker.takeNumber());
  });
  request.specializedArgs.resize(unpacker.takeCount());
  for (ArgValue& argument : request.specializedArgs) {
    argument.index = static_cast<uint32_t>(unpacker.takeNumber());
    argument.content = static_cast<int32_t>(unpacker.takeNumber());
    if (const uint64_t place = unpacker.takeNumber())
      argument.offset = static_cast<uint32_t>(place - 1);
    unpacker.take(argument.bytes);
  }
  request.lambdaValues.resize(unpacker.takeCount());
  for (LambdaValue& lambda : request.lambdaValues) {
    unpacker.take(lambda.function);
    lambda.slot = static_cast<uint32_t>(unpacker.takeNumber());
    lambda.offset = static_cast<uint32_t>(unpacker.takeNumber());
    lambda.argument = static_cast<uint32_t>(unpacker.takeNumber());
    lambda.place = unpacker.takeNumber();
    unpacker.take(lambda.value);
  }
  request.placedGlobals.resize(unpacker.takeCount());
  for (GlobalPlace& place : request.placedGlobals) {
    unpacker.take(place.name);
    place.address = unpacker.takeNumber();
  }
  request.plugins.resize(unpacker.takeCount());
  for (PassPlugin& plugin : request.plugins) {
    unpacker.take(plugin.path);
    plugin.contentHash = unpacker.takeNumber();
  }
  if (!unpacker.isGood())
    return std::nullopt;
  return request;
}

std::string packAnswer(const Answer& answer) {
  Packer packer;
  packer.add(static_cast<uint64_t>(answer.code));
  packer.add(bytesOf(answer.message));
  packer.add(bytesOf(answer.result.image));
  for (const std::string* text :
       {&answer.result.ir, &answer.result.assembly, &answer.result.statisticsJson,
        &answer.result.trace, &answer.result.printed, &answer.result.warnings,
        &answer.result.timeTrace, &answer.result.linkedIr, &answer.result.specializedIr})
    packer.add(bytesOf(*text));
  return sealed(kAnswerMagic, packer);
}

std::optional<Answer> unpackAnswer(std::span<const std::byte> bytes) {
  const auto fields = opened(kAnswerMagic, bytes);
  if (!fields)
    return std::nullopt;
  Unpacker unpacker(*fields);
  Answer answer;
  answer.code = static_cast<ErrorCode>(unpacker.takeNumber());
  unpacker.take(answer.message);
  unpacker.take(answer.result.image);
  for (std::string* text :
       {&answer.result.ir, &answer.result.assembly, &answer.result.statisticsJson,
        &answer.result.trace, &answer.result.printed, &answer.result.warnings,
        &answer.result.timeTrace, &answer.result.linkedIr, &answer.result.specializedIr})
    unpacker.take(*text);
  if (!unpacker.isGood())
    return std::nullopt;
  return answer;
}

} // namespace mneme::compile
