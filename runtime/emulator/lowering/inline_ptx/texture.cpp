// Instructions of PTX that read textures, and read and write surfaces. The device does the work.
#include <cstddef>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/core/abi/cpu_texture.h"
#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kWords = 4;

struct Access {
  uint32_t operation = 0;
  Value* object = nullptr;
  Value* coordinates = nullptr;
  Value* values = nullptr;
};

/// Four words on the stack, the same for all uses in a function.
Value* words(Emit& e, StringRef name) {
  BasicBlock& entry = e.GetInsertBlock()->getParent()->getEntryBlock();
  for (Instruction& instruction : entry)
    if (isa<AllocaInst>(instruction) && instruction.getName() == name)
      return &instruction;
  IRBuilder<> builder(&entry, entry.begin());
  AllocaInst* made = builder.CreateAlloca(ArrayType::get(builder.getInt32Ty(), kWords));
  made->setAlignment(Align(16));
  made->setName(name);
  return made;
}

Value* word(Emit& e, Value* base, unsigned index) {
  return e.CreateConstInBoundsGEP1_64(e.getInt32Ty(), base, index);
}

/// 1d, 2d, 3d, a1d or a2d.
uint32_t takeShape(PtxContext& c, PtxInstruction& i) {
  const int shape = i.takeAny({"1d", "2d", "3d", "a1d", "a2d"});
  constexpr uint32_t kShapes[] = {1, 2, 3, 1 | MNEME_TEXTURE_LAYERED, 2 | MNEME_TEXTURE_LAYERED};
  if (shape < 0)
    c.unsupported(i);
  return kShapes[shape];
}

/// "[object, {coordinates}]"; a layer comes first and goes behind the others.
Access takePlace(PtxContext& c, PtxInstruction& i, StringRef operand, uint32_t operation) {
  Access access;
  access.operation = operation;
  operand = operand.trim();
  if (!operand.consume_front("[") || !operand.consume_back("]"))
    c.unsupported(i);
  const auto [object, place] = operand.split(',');
  const std::vector<std::string> numbers = PtxContext::elements(place);
  const bool isLayered = (operation & MNEME_TEXTURE_LAYERED) != 0;
  const unsigned dimensions = operation & 3;
  if (numbers.size() < dimensions + isLayered)
    c.unsupported(i);
  Emit& e = c.e;
  access.object = c.read(object, e.i(64));
  access.coordinates = words(e, "mneme.texture.coordinates");
  access.values = words(e, "mneme.texture.values");
  for (unsigned at = 0; at < 3; ++at) {
    Value* number = e.getInt32(0);
    if (at < dimensions)
      number = c.read(numbers[at + isLayered], e.i(32));
    else if (at == 2 && isLayered)
      number = c.read(numbers[0], e.i(32));
    e.CreateAlignedStore(number, word(e, access.coordinates, at), Align(4));
  }
  return access;
}

void request(PtxContext& c, const Access& access, unsigned bytes) {
  Emit& e = c.e;
  e.service(offsetof(mneme_cpu_services, texture), e.getVoidTy(),
            {e.context(), access.object, e.getInt32(access.operation), access.coordinates,
             access.values, e.getInt32(bytes)});
}

void readChannels(PtxContext& c, PtxInstruction& i, uint32_t operation) {
  const std::vector<std::string> targets = PtxContext::elements(i.operands[0]);
  const Access access = takePlace(c, i, i.operands[1], operation);
  if (targets.size() != kWords)
    c.unsupported(i);
  request(c, access, kWords * 4);
  for (unsigned at = 0; at < kWords; ++at)
    c.write(targets[at], c.e.CreateAlignedLoad(c.e.i(32), word(c.e, access.values, at), Align(4)));
}

/// tex[.level or .grad].<shape>.v4.<type>.<type of coordinates>: there is one level only.
void readTexture(PtxContext& c, PtxInstruction& i) {
  i.takeAny({"level", "grad", "base"});
  uint32_t operation = takeShape(c, i);
  const std::optional<PtxType> result = i.takeType(), coordinates = i.takeType();
  if (!i.take("v4") || !result || result->bits != 32 || !coordinates || coordinates->bits != 32)
    c.unsupported(i);
  if (coordinates->isSigned())
    operation |= MNEME_TEXTURE_NUMBERS;
  readChannels(c, i, operation);
}

/// tld4.<channel>.2d.v4.<type>.f32
void gather(PtxContext& c, PtxInstruction& i) {
  const int channel = i.takeAny({"r", "g", "b", "a"});
  const uint32_t operation = takeShape(c, i);
  const std::optional<PtxType> result = i.takeType(), coordinates = i.takeType();
  if (channel < 0 || operation != 2 || !i.take("v4") || !result || result->bits != 32 ||
      !coordinates || coordinates->kind != 'f')
    c.unsupported(i);
  readChannels(c, i, operation | MNEME_TEXTURE_GATHER | uint32_t(channel) * 0x20);
}

struct Surface {
  uint32_t operation = 0;
  unsigned lanes = 1;
  PtxType type;
  unsigned bytes() const { return lanes * type.bits / 8; }
};

/// .b.<shape>[.v2 or .v4].<type>.<trap, clamp or zero>
Surface takeSurface(PtxContext& c, PtxInstruction& i, uint32_t operation) {
  Surface surface;
  const bool isBytes = i.take("b");
  surface.operation = operation | takeShape(c, i);
  const int lanes = i.takeAny({"v2", "v4"});
  surface.lanes = lanes < 0 ? 1 : (lanes == 0 ? 2 : 4);
  const std::optional<PtxType> type = i.takeType();
  const int outside = i.takeAny({"trap", "clamp", "zero"});
  if (!isBytes || !type || outside < 0)
    c.unsupported(i);
  surface.type = *type;
  if (surface.bytes() > kWords * 4)
    c.unsupported(i);
  constexpr uint32_t kOutside[] = {MNEME_SURFACE_TRAP, MNEME_SURFACE_CLAMP, 0};
  surface.operation |= kOutside[outside];
  return surface;
}

Value* lanePlace(PtxContext& c, const Access& access, const Surface& surface, unsigned lane) {
  return c.e.CreateConstInBoundsGEP1_64(c.e.i(surface.type.bits), access.values, lane);
}

void readSurface(PtxContext& c, PtxInstruction& i) {
  const Surface surface = takeSurface(c, i, MNEME_SURFACE_READ);
  const std::vector<std::string> targets = PtxContext::elements(i.operands[0]);
  const Access access = takePlace(c, i, i.operands[1], surface.operation);
  if (targets.size() != surface.lanes)
    c.unsupported(i);
  request(c, access, surface.bytes());
  for (unsigned lane = 0; lane < surface.lanes; ++lane)
    c.write(targets[lane],
            c.e.CreateAlignedLoad(c.e.i(surface.type.bits), lanePlace(c, access, surface, lane),
                                  Align(surface.type.bits / 8)));
}

void writeSurface(PtxContext& c, PtxInstruction& i) {
  const Surface surface = takeSurface(c, i, MNEME_SURFACE_WRITE);
  const std::vector<std::string> sources = PtxContext::elements(i.operands[1]);
  const Access access = takePlace(c, i, i.operands[0], surface.operation);
  if (sources.size() != surface.lanes)
    c.unsupported(i);
  for (unsigned lane = 0; lane < surface.lanes; ++lane)
    c.e.CreateAlignedStore(c.read(sources[lane], c.e.i(surface.type.bits)),
                           lanePlace(c, access, surface, lane), Align(surface.type.bits / 8));
  request(c, access, surface.bytes());
}

constexpr PtxRule kRules[] = {
    {"tex", readTexture},
    {"tld4", gather},
    {"suld", readSurface},
    {"sust", writeSurface},
};

} // namespace

std::span<const PtxRule> ptxTextureRules() { return kRules; }

} // namespace mneme::compile::cpu
