// llvm.nvvm.wmma.*: loads, stores and products of fragments of matrices (matrix.h).
//
// A fragment's elements are numbered along rows of A, C and D and along columns of B; each lane
// holds neighbours. Where a fragment has more room than the matrix has elements, lanes repeat from
// the start.
#include "runtime/emulator/lowering/matrix.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kWarp = 32;

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

struct Fragment {
  MatrixType type;
  unsigned registers;
  unsigned lines;  ///< rows, of B columns
  unsigned length; ///< of a line

  unsigned elements() const { return registers * matrixLanes(type); } ///< of one lane
  unsigned lanesPerLine() const { return length / elements(); }
  unsigned lanes() const { return lines * lanesPerLine(); } ///< before they repeat
  /// Whether lanes hold whole parts of lines, which all that has been seen does.
  bool isEven() const {
    return elements() <= length && length % elements() == 0 && lanes() <= kWarp &&
           kWarp % lanes() == 0;
  }
};

struct Words {
  SmallVector<StringRef> parts;

  bool take(StringRef word) {
    auto found = find(parts, word);
    if (found == parts.end())
      return false;
    parts.erase(found);
    return true;
  }
  StringRef takeFirst() {
    if (parts.empty())
      return {};
    StringRef first = parts.front();
    parts.erase(parts.begin());
    return first;
  }
};

class Wmma {
public:
  Wmma(CallInst& call, StringRef name) : e_(call), call_(call), name_(name) {}

  /// The replacement; null for stores.
  Value* lower();

private:
  [[noreturn]] void unsupported() const {
    throwUnsupported("the intrinsic 'llvm.nvvm.wmma." + name_ + "'", *call_.getFunction());
  }
  Fragment fragment(char matrix, MatrixType type, unsigned registers) const;
  Value* load();
  Value* store();
  Value* multiply();
  MatrixType type(StringRef word) const;
  Value* address(const Fragment& fragment, Value* base, bool isAlongLines, Value* stride,
                 unsigned element);
  Value* line(const Fragment& fragment, unsigned perLine);
  SmallVector<Value*> lineOf(const Fragment& fragment, const SharedRegisters& shared,
                             unsigned first, Value* line);
  SmallVector<Value*> registers(unsigned from, unsigned count) const;
  Value* pack(ArrayRef<Value*> elements, MatrixType type, Type* registerType);
  Value* resultOf(ArrayRef<Value*> registers) const;
  static unsigned count(Type* type) {
    return type->isStructTy() ? type->getStructNumElements() : 1;
  }
  Type* registerType() const {
    return call_.getType()->isStructTy() ? call_.getType()->getStructElementType(0)
                                         : call_.getType();
  }
  Value* lane() { return e_.specialRegister("laneid"); }

  Emit e_;
  CallInst& call_;
  StringRef name_;
  Shape shape_;
  Words words_;
};

MatrixType Wmma::type(StringRef word) const {
  const std::optional<MatrixType> found = parseMatrixType(word);
  if (!found)
    unsupported();
  return *found;
}

Fragment Wmma::fragment(char matrix, MatrixType type, unsigned registers) const {
  Fragment made{type, registers, shape_.m, shape_.n};
  if (matrix == 'a')
    made.length = shape_.k;
  else if (matrix == 'b')
    made.lines = shape_.n, made.length = shape_.k;
  if (!made.isEven())
    unsupported();
  return made;
}

SmallVector<Value*> Wmma::registers(unsigned from, unsigned count) const {
  SmallVector<Value*> result;
  for (unsigned at = 0; at < count; ++at)
    result.push_back(call_.getArgOperand(from + at));
  return result;
}

/// Where element `element` of this lane is in memory.
Value* Wmma::address(const Fragment& fragment, Value* base, bool isAlongLines, Value* stride,
                     unsigned element) {
  Value* place = e_.CreateURem(lane(), e_.getInt32(fragment.lanes()));
  Value* line = e_.CreateUDiv(place, e_.getInt32(fragment.lanesPerLine()));
  Value* at = e_.CreateURem(place, e_.getInt32(fragment.lanesPerLine()));
  at = e_.CreateAdd(e_.CreateMul(at, e_.getInt32(fragment.elements())), e_.getInt32(element));
  Value* wide = e_.CreateZExt(stride, e_.i(64));
  line = e_.CreateZExt(line, e_.i(64));
  at = e_.CreateZExt(at, e_.i(64));
  Value* index = isAlongLines ? e_.CreateAdd(e_.CreateMul(line, wide), at)
                              : e_.CreateAdd(e_.CreateMul(at, wide), line);
  return e_.CreateGEP(e_.i(matrixBits(fragment.type)), base, index);
}

Value* Wmma::pack(ArrayRef<Value*> elements, MatrixType type, Type* registerType) {
  const unsigned bits = unsigned(registerType->getPrimitiveSizeInBits().getFixedValue());
  Value* whole = Constant::getNullValue(e_.i(bits));
  for (unsigned at = 0; at < elements.size(); ++at) {
    Value* element = e_.CreateBitCast(elements[at], e_.i(matrixBits(type)));
    element = e_.CreateShl(e_.CreateZExt(element, e_.i(bits)), at * matrixBits(type));
    whole = e_.CreateOr(whole, element);
  }
  return e_.CreateBitCast(whole, registerType);
}

Value* Wmma::resultOf(ArrayRef<Value*> registers) const {
  if (!call_.getType()->isStructTy())
    return registers[0];
  IRBuilder<> builder(&call_);
  Value* result = PoisonValue::get(call_.getType());
  for (unsigned at = 0; at < registers.size(); ++at)
    result = builder.CreateInsertValue(result, registers[at], at);
  return result;
}

/// load.<a, b or c>.<row or col>[.stride].<type>.<space>
Value* Wmma::load() {
  const StringRef matrix = words_.takeFirst();
  const bool isRow = words_.takeFirst() == "row";
  const bool hasStride = words_.take("stride");
  const MatrixType elementType = type(words_.takeFirst());
  if (matrixBits(elementType) < 8 || matrix.size() != 1)
    unsupported();
  const Fragment made = fragment(matrix[0], elementType, count(call_.getType()));
  const bool isAlongLines = isRow == (matrix != "b");
  const unsigned width = isAlongLines ? made.length : made.lines;
  Value* stride = hasStride ? call_.getArgOperand(1) : e_.getInt32(width);
  SmallVector<Value*> result, elements;
  for (unsigned at = 0; at < made.elements(); ++at) {
    Type* bits = e_.i(matrixBits(elementType));
    Value* place = address(made, call_.getArgOperand(0), isAlongLines, stride, at);
    elements.push_back(e_.CreateAlignedLoad(bits, place, Align(matrixBits(elementType) / 8)));
    if (elements.size() == matrixLanes(elementType)) {
      result.push_back(pack(elements, elementType, registerType()));
      elements.clear();
    }
  }
  // The lanes read the matrix together: none continues before all have read.
  syncWarp(e_);
  return resultOf(result);
}

/// store.d.<row or col>[.stride].<type>.<space>: address, registers, stride
Value* Wmma::store() {
  const StringRef matrix = words_.takeFirst();
  const bool isRow = words_.takeFirst() == "row";
  const bool hasStride = words_.take("stride");
  const MatrixType elementType = type(words_.takeFirst());
  if (matrix != "d")
    unsupported();
  const unsigned count = call_.arg_size() - 1 - hasStride;
  const Fragment made = fragment('d', elementType, count);
  Value* stride =
      hasStride ? call_.getArgOperand(count + 1) : e_.getInt32(isRow ? made.length : made.lines);
  const unsigned width = matrixBits(elementType);
  for (unsigned at = 0; at < made.elements(); ++at) {
    Value* whole = call_.getArgOperand(1 + at / matrixLanes(elementType));
    const unsigned bits = unsigned(whole->getType()->getPrimitiveSizeInBits().getFixedValue());
    whole = e_.CreateBitCast(whole, e_.i(bits));
    Value* element = e_.CreateLShr(whole, at % matrixLanes(elementType) * width);
    e_.CreateAlignedStore(e_.CreateTrunc(element, e_.i(width)),
                          address(made, call_.getArgOperand(0), isRow, stride, at),
                          Align(width / 8));
  }
  syncWarp(e_);
  return nullptr;
}

/// All elements of a line of A or B, fetched from the lanes that hold them.
SmallVector<Value*> Wmma::lineOf(const Fragment& fragment, const SharedRegisters& shared,
                                 unsigned first, Value* line) {
  SmallVector<Value*> result;
  const unsigned perRegister = matrixLanes(fragment.type);
  Value* firstLane = e_.CreateMul(line, e_.getInt32(fragment.lanesPerLine()));
  for (unsigned at = 0; at < fragment.length; at += perRegister) {
    Value* lane = e_.CreateAdd(firstLane, e_.getInt32(at / fragment.elements()));
    Value* bits = shared.of(lane, first + at % fragment.elements() / perRegister);
    for (unsigned element = 0; element < perRegister; ++element)
      result.push_back(matrixElement(e_, bits, fragment.type, element));
  }
  return result;
}

/// mma.<layout of a>.<layout of b>[.rounding].<types>[.satfinite]. Types are those of d and c where
/// a and b are f16, else that of a and b.
Value* Wmma::multiply() {
  words_.takeFirst();
  words_.takeFirst();
  const bool isSaturating = words_.take("satfinite");
  if (words_.take("rz") || words_.take("rm") || words_.take("rp"))
    unsupported();
  words_.take("rn");
  const MatrixType first = type(words_.takeFirst());
  MatrixType factors = first, sums = MatrixType::S32;
  if (!words_.parts.empty()) {
    factors = MatrixType::Half;
    sums = type(words_.takeFirst());
  } else if (first == MatrixType::Bfloat || first == MatrixType::Tf32) {
    sums = MatrixType::Float;
  } else if (first == MatrixType::Double) {
    sums = MatrixType::Double;
  }
  const MatrixType results = factors == MatrixType::Half ? first : sums;
  const auto registersFor = [&](unsigned lines, unsigned length, MatrixType kind) {
    // Room for the matrix once; f16 and its like have more, as much as the operands say.
    return std::max(1u, lines * length / (kWarp * matrixLanes(kind)));
  };
  const unsigned all = call_.arg_size();
  const unsigned sumCount = registersFor(shape_.m, shape_.n, sums);
  unsigned aCount = registersFor(shape_.m, shape_.k, factors);
  unsigned bCount = registersFor(shape_.n, shape_.k, factors);
  if (factors == MatrixType::Half)
    aCount = bCount = (all - sumCount) / 2;
  if (aCount + bCount + sumCount != all)
    unsupported();
  const Fragment a = fragment('a', factors, aCount), b = fragment('b', factors, bCount);
  const Fragment c = fragment('c', sums, sumCount);
  const Fragment d = fragment('d', results, count(call_.getType()));
  if (c.elements() != d.elements())
    unsupported();
  const auto cRegisters = registers(aCount + bCount, sumCount);
  const SharedRegisters shared(e_, registers(0, aCount + bCount));

  Value* perLine = e_.getInt32(d.lanesPerLine());
  const auto row = lineOf(a, shared, 0, e_.CreateUDiv(lane(), perLine));
  Value* firstColumn = e_.CreateMul(e_.CreateURem(lane(), perLine), e_.getInt32(d.elements()));
  SmallVector<Value*> made, elements;
  for (unsigned at = 0; at < d.elements(); ++at) {
    const auto column = lineOf(b, shared, aCount, e_.CreateAdd(firstColumn, e_.getInt32(at)));
    Value* bits = cRegisters[at / matrixLanes(c.type)];
    Value* sum = toSum(e_, matrixElement(e_, bits, c.type, at % matrixLanes(c.type)));
    for (unsigned k = 0; k < shape_.k; ++k)
      sum = multiplyAdd(e_, factors, row[k], column[k], sum);
    elements.push_back(toMatrixElement(e_, fromSum(e_, sum, isSaturating), d.type));
    if (elements.size() == matrixLanes(d.type)) {
      made.push_back(pack(elements, d.type, registerType()));
      elements.clear();
    }
  }
  shared.finish();
  return resultOf(made);
}

Value* Wmma::lower() {
  SmallVector<StringRef> parts;
  name_.split(parts, '.');
  words_.parts = parts;
  StringRef shape = words_.takeFirst();
  const bool isShape = shape.consume_front("m") && !shape.consumeInteger(10, shape_.m) &&
                       shape.consume_front("n") && !shape.consumeInteger(10, shape_.n) &&
                       shape.consume_front("k") && !shape.consumeInteger(10, shape_.k);
  if (!isShape)
    unsupported();
  const StringRef verb = words_.takeFirst();
  if (verb == "load")
    return load();
  if (verb == "store")
    return store();
  if (verb == "mma")
    return multiply();
  unsupported();
}

} // namespace

void lowerWmma(CallInst& call, StringRef name) { replaceCall(call, Wmma(call, name).lower()); }

} // namespace mneme::compile::cpu
