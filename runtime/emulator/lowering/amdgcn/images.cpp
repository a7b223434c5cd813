// AMD's device libraries for textures and surfaces, by which HIP's headers read and write them: the
// device does the work, from the description that an object is the address of (cpu_texture.h).
// What has several levels or six faces is left: the instructions in it are refused by name.
#include <cstddef>
#include <functional>

#include <llvm/ADT/StringSwitch.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/abi/cpu_texture.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/function_body.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kWords = 4;

Value* objectOf(Emit& e, Function& f) { return e.CreatePtrToInt(f.getArg(0), e.i(64)); }

/// 0 for what is not known.
uint32_t shapeOf(StringRef name) {
  return StringSwitch<uint32_t>(name)
      .Case("1D", 1)
      .Case("1Db", 1)
      .Case("2D", 2)
      .Case("3D", 3)
      .Case("1Da", 1 | MNEME_TEXTURE_LAYERED)
      .Case("2Da", 2 | MNEME_TEXTURE_LAYERED)
      .Default(0);
}

Value* word(Emit& e, Value* base, unsigned index) {
  return e.CreateConstInBoundsGEP1_64(e.i(32), base, index);
}

/// Coordinates as the device wants them: a layer is a number, and the third of them.
Value* coordinatesOf(Emit& e, Value* given, uint32_t operation) {
  const unsigned dimensions = operation & 3;
  const bool isLayered = (operation & MNEME_TEXTURE_LAYERED) != 0;
  Value* words = e.CreateAlloca(ArrayType::get(e.i(32), kWords));
  for (unsigned at = 0; at < 3; ++at) {
    Value* number = e.getInt32(0);
    const bool isLayer = at == 2 && isLayered;
    if (at < dimensions || isLayer) {
      number = given;
      if (given->getType()->isVectorTy())
        number = e.CreateExtractElement(given, uint64_t{isLayer ? dimensions : at});
      if (isLayer && number->getType()->isFloatTy())
        number = e.CreateFPToSI(e.CreateUnaryIntrinsic(Intrinsic::rint, number), e.i(32));
      number = e.CreateBitCast(number, e.i(32));
    }
    e.CreateAlignedStore(number, word(e, words, at), Align(4));
  }
  return words;
}

void request(Emit& e, Function& f, uint32_t operation, Value* coordinates, Value* values) {
  e.service(offsetof(mneme_cpu_services, texture), e.getVoidTy(),
            {e.context(), objectOf(e, f), e.getInt32(operation), coordinates, values,
             e.getInt32(kWords * 4)});
}

Value* readChannels(Emit& e, Function& f, unsigned place, uint32_t operation) {
  Value* coordinates = coordinatesOf(e, f.getArg(place), operation);
  Value* values = e.CreateAlloca(ArrayType::get(e.i(32), kWords));
  request(e, f, operation, coordinates, values);
  return e.CreateAlignedLoad(f.getReturnType(), values, Align(4));
}

Value* writeChannels(Emit& e, Function& f, uint32_t operation) {
  Value* coordinates = coordinatesOf(e, f.getArg(1), operation);
  Value* values = e.CreateAlloca(ArrayType::get(e.i(32), kWords));
  e.CreateAlignedStore(f.getArg(2), values, Align(4));
  request(e, f, operation | MNEME_SURFACE_WRITE | MNEME_SURFACE_ELEMENTS, coordinates, values);
  return nullptr;
}

Value* fieldOf(Emit& e, Function& f, size_t offset) {
  Value* base = e.CreateIntToPtr(objectOf(e, f), e.getPtrTy());
  return e.CreateAlignedLoad(e.i(32), e.CreateConstInBoundsGEP1_64(e.getInt8Ty(), base, offset),
                             Align(4));
}

/// A number of HSA's hsa_ext_image_channel_type_t: 8 to 10 are signed ones of 8, 16 and 32 bits, 11
/// to 13 unsigned ones, 14 and 15 floats of 16 and 32.
Value* channelType(Emit& e, Function& f) {
  Value* kind = fieldOf(e, f, offsetof(mneme_cpu_texture, kind));
  Value* size = e.CreateLShr(fieldOf(e, f, offsetof(mneme_cpu_texture, channelBits)), 4);
  Value* first =
      e.CreateSelect(e.CreateICmpEQ(kind, e.getInt32(MNEME_TEXTURE_FLOAT)), e.getInt32(13),
                     e.CreateSelect(e.CreateICmpEQ(kind, e.getInt32(MNEME_TEXTURE_UNSIGNED)),
                                    e.getInt32(11), e.getInt32(8)));
  return e.CreateAdd(first, size);
}

/// Returns R, RG or RGBA of hsa_ext_image_channel_order_t.
Value* channelOrder(Emit& e, Function& f) {
  Value* channels = fieldOf(e, f, offsetof(mneme_cpu_texture, channels));
  return e.CreateSelect(
      e.CreateICmpEQ(channels, e.getInt32(1)), e.getInt32(1),
      e.CreateSelect(e.CreateICmpEQ(channels, e.getInt32(2)), e.getInt32(3), e.getInt32(8)));
}

/// There is one level: which one is asked for means nothing.
uint32_t sampledShape(StringRef name) {
  if (!name.consume_front("lod_"))
    name.consume_front("grad_");
  return shapeOf(name);
}

} // namespace

bool defineAmdgcnImage(Function& function, StringRef name) {
  if (!name.consume_front("__ockl_image_"))
    return false;
  // An optimizer may have taken parameters out: the body is that of one use then, and stays.
  const auto parameters =
      StringSwitch<unsigned>(name.split('_').first).Case("channel", 1).Case("load", 2).Default(3);
  if (function.arg_size() < parameters)
    return false;
  std::function<Value*(Emit&)> body;
  if (name.consume_front("sample_")) {
    if (const uint32_t shape = sampledShape(name))
      body = [&function, shape](Emit& e) { return readChannels(e, function, 2, shape); };
  } else if (name.consume_front("load_")) {
    if (const uint32_t shape = shapeOf(name))
      body = [&function, shape](Emit& e) {
        return readChannels(e, function, 1, shape | MNEME_TEXTURE_NUMBERS);
      };
  } else if (name.consume_front("store_")) {
    if (const uint32_t shape = shapeOf(name))
      body = [&function, shape](Emit& e) { return writeChannels(e, function, shape); };
  } else if (name.consume_front("gather4") && name.consume_back("_2D") && name.size() == 1) {
    const auto channel = static_cast<uint32_t>(StringRef("rgba").find(name.front()));
    const uint32_t operation = 2 | MNEME_TEXTURE_GATHER | channel * 0x20;
    body = [&function, operation](Emit& e) { return readChannels(e, function, 2, operation); };
  } else if (name.starts_with("channel_data_type_")) {
    body = [&function](Emit& e) { return channelType(e, function); };
  } else if (name.starts_with("channel_order_")) {
    body = [&function](Emit& e) { return channelOrder(e, function); };
  }
  if (!body)
    return false;
  ReturnInst* place = startBody(function);
  Emit emit(*place);
  finishBody(place, body(emit));
  return true;
}

} // namespace mneme::compile::cpu
