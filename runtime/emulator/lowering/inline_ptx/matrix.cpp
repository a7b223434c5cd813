// Instructions of PTX for tensor cores: mma, and what brings its operands to the lanes (matrix.h).
//
// Four lanes hold a row of A, of C and of D, or a column of B: lane 4 * line + part. Each lane has
// one register of neighbouring factors; the next four registers of the line follow it.
#include "runtime/emulator/lowering/matrix.h"
#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kParts = 4; ///< lanes of a line

struct Mma {
  unsigned m = 0, n = 0, k = 0;
  MatrixType d, a, b, c;
  bool isSaturating = false;
  SmallVector<Value*> aBits, bBits, cBits;

  unsigned halves() const { return m / 8; } ///< registers of A for the same columns
};

bool takeShape(PtxInstruction& i, Mma& mma) {
  for (const std::string& part : i.parts) {
    StringRef text = part;
    if (text.consume_front("m") && !text.consumeInteger(10, mma.m) && text.consume_front("n") &&
        !text.consumeInteger(10, mma.n) && text.consume_front("k") && !text.getAsInteger(10, mma.k))
      return i.take(part);
  }
  return false;
}

/// The words that remain are the types, of D first.
bool takeTypes(PtxInstruction& i, Mma& mma) {
  if (i.parts.size() != 4)
    return false;
  MatrixType* const places[] = {&mma.d, &mma.a, &mma.b, &mma.c};
  for (unsigned at = 0; at < 4; ++at) {
    const std::optional<MatrixType> type = parseMatrixType(i.parts[at]);
    if (!type)
      return false;
    *places[at] = *type;
  }
  i.parts.clear();
  return true;
}

SmallVector<Value*> readAll(PtxContext& c, StringRef operand, MatrixType type) {
  SmallVector<Value*> result;
  for (const std::string& name : PtxContext::elements(operand))
    result.push_back(c.read(name, c.e.i(type == MatrixType::Double ? 64 : 32)));
  return result;
}

/// What of the warp's matrices this translation knows the places of.
bool isKnown(const Mma& mma) {
  const unsigned perRegister = matrixLanes(mma.a), sums = matrixLanes(mma.c);
  const bool isNarrow = matrixBits(mma.a) == 4 || matrixBits(mma.a) == 8;
  const bool isSameKind = mma.a == mma.b || (isNarrow && matrixBits(mma.a) == matrixBits(mma.b));
  const MatrixType expected = isNarrow                      ? MatrixType::S32
                              : mma.a == MatrixType::Double ? MatrixType::Double
                                                            : MatrixType::Float;
  const bool hasSums =
      mma.c == expected || (mma.a == MatrixType::Half && mma.c == MatrixType::Half);
  const bool isLong = mma.k % (kParts * perRegister) == 0;
  const bool isVolta = mma.a == MatrixType::Half && mma.m == 8; // other places altogether
  return (mma.m == 8 || mma.m == 16) && mma.n == 8 && isLong && isSameKind && hasSums &&
         mma.c == mma.d && !isVolta && mma.a != MatrixType::Float && mma.a != MatrixType::S32 &&
         mma.bBits.size() == mma.k / (kParts * perRegister) &&
         mma.aBits.size() == mma.bBits.size() * mma.halves() &&
         mma.cBits.size() == mma.halves() * 2 / sums;
}

/// All elements of a line: registers first, first + step, ... of the lanes that hold it.
SmallVector<Value*> lineOf(Emit& e, const SharedRegisters& shared, MatrixType type, Value* line,
                           unsigned first, unsigned end, unsigned step) {
  SmallVector<Value*> result;
  for (unsigned at = first; at < end; at += step)
    for (unsigned part = 0; part < kParts; ++part) {
      Value* lane = e.CreateAdd(e.CreateMul(line, e.getInt32(kParts)), e.getInt32(part));
      Value* fetched = shared.of(lane, at);
      for (unsigned element = 0; element < matrixLanes(type); ++element)
        result.push_back(matrixElement(e, fetched, type, element));
    }
  return result;
}

/// The lane's two neighbours in row `half`: C's, and the products added.
SmallVector<Value*, 2> rowOf(Emit& e, const Mma& mma, ArrayRef<Value*> row,
                             ArrayRef<SmallVector<Value*>> columns, unsigned half) {
  SmallVector<Value*, 2> result;
  for (unsigned at = 0; at < 2; ++at) {
    const unsigned number = half * 2 + at, perRegister = matrixLanes(mma.c);
    Value* bits = mma.cBits[number / perRegister];
    Value* sum = toSum(e, matrixElement(e, bits, mma.c, number % perRegister));
    for (unsigned k = 0; k < mma.k; ++k)
      sum = multiplyAdd(e, mma.a, row[k], columns[at][k], sum);
    result.push_back(toMatrixElement(e, fromSum(e, sum, mma.isSaturating), mma.d));
  }
  return result;
}

/// mma.sync.aligned.<shape>.row.col[.satfinite].<types of d, a, b, c>
void multiply(PtxContext& c, PtxInstruction& i) {
  Mma mma;
  const bool isPlain =
      i.take("sync") && i.take("aligned") && takeShape(i, mma) && i.take("row") && i.take("col");
  mma.isSaturating = i.take("satfinite");
  i.take("rn");
  if (!isPlain || !takeTypes(i, mma) || i.operands.size() != 4)
    c.unsupported(i);
  mma.aBits = readAll(c, i.operands[1], mma.a);
  mma.bBits = readAll(c, i.operands[2], mma.b);
  mma.cBits = readAll(c, i.operands[3], mma.c);
  const std::vector<std::string> targets = PtxContext::elements(i.operands[0]);
  if (!isKnown(mma) || targets.size() != mma.cBits.size())
    c.unsupported(i);
  Emit& e = c.e;
  Value* lane = e.specialRegister("laneid");
  Value* row = e.CreateUDiv(lane, e.getInt32(kParts));
  Value* column = e.CreateMul(e.CreateURem(lane, e.getInt32(kParts)), e.getInt32(2));
  SmallVector<Value*> factors(mma.aBits);
  factors.append(mma.bBits);
  const SharedRegisters shared(e, factors);
  const unsigned aCount = unsigned(mma.aBits.size()), allCount = unsigned(factors.size());
  SmallVector<SmallVector<Value*>> columns;
  for (unsigned at = 0; at < 2; ++at)
    columns.push_back(
        lineOf(e, shared, mma.b, e.CreateAdd(column, e.getInt32(at)), aCount, allCount, 1));
  for (unsigned half = 0; half < mma.halves(); ++half) {
    const auto pair =
        rowOf(e, mma, lineOf(e, shared, mma.a, row, half, aCount, mma.halves()), columns, half);
    if (mma.d == MatrixType::Half) {
      Value* both = PoisonValue::get(FixedVectorType::get(e.getHalfTy(), 2));
      for (unsigned at = 0; at < 2; ++at)
        both = e.CreateInsertElement(both, pair[at], at);
      c.write(targets[half], both);
      continue;
    }
    for (unsigned at = 0; at < 2; ++at)
      c.write(targets[half * 2 + at], pair[at]);
  }
  shared.finish();
}

struct Move {
  unsigned matrices = 0;
  bool isTransposed = false;
  Value* address = nullptr; ///< of this lane's row
};

/// .sync.aligned.m8n8.<x1, x2, x4>[.trans].shared.b16
Move takeMove(PtxContext& c, PtxInstruction& i, StringRef address) {
  Move move;
  bool isPlain = i.take("sync") && i.take("aligned") && i.take("m8n8");
  const int count = i.takeAny({"x1", "x2", "x4"});
  move.isTransposed = i.take("trans");
  const bool isShared = i.take("shared") || i.take("shared::cta");
  isPlain = isPlain && i.take("b16") && count >= 0 && i.operands.size() == 2;
  if (!isPlain || !i.parts.empty())
    c.unsupported(i);
  move.matrices = 1u << count;
  move.address = c.address(address, isShared);
  return move;
}

/// Where element (row, column) of 16 bits of a matrix is; lane 8 * matrix + row knows where the row
/// is.
Value* place(Emit& e, const SharedRegisters& addresses, unsigned matrix, Value* row,
             Value* column) {
  Value* base = addresses.of(e.CreateAdd(row, e.getInt32(8 * matrix)), 0);
  return e.CreateGEP(e.i(16), base, e.CreateZExt(column, e.i(64)));
}

/// The rows and columns of a lane's two elements of a matrix.
struct Elements {
  Value* row[2];
  Value* column[2];
};

Elements elementsOf(Emit& e, bool isTransposed) {
  Value* lane = e.specialRegister("laneid");
  Value* line = e.CreateUDiv(lane, e.getInt32(kParts));
  Value* first = e.CreateMul(e.CreateURem(lane, e.getInt32(kParts)), e.getInt32(2));
  Value* second = e.CreateAdd(first, e.getInt32(1));
  if (isTransposed)
    return {{first, second}, {line, line}};
  return {{line, line}, {first, second}};
}

void loadMatrices(PtxContext& c, PtxInstruction& i) {
  const Move move = takeMove(c, i, i.operands[1]);
  const std::vector<std::string> targets = PtxContext::elements(i.operands[0]);
  if (targets.size() != move.matrices)
    c.unsupported(i);
  Emit& e = c.e;
  const Elements elements = elementsOf(e, move.isTransposed);
  const SharedRegisters addresses(e, {move.address});
  SmallVector<Value*> loaded;
  for (unsigned matrix = 0; matrix < move.matrices; ++matrix) {
    Value* bits = e.getInt32(0);
    for (unsigned at = 0; at < 2; ++at) {
      Value* from = place(e, addresses, matrix, elements.row[at], elements.column[at]);
      Value* element = e.CreateZExt(e.CreateAlignedLoad(e.i(16), from, Align(2)), e.i(32));
      bits = e.CreateOr(bits, e.CreateShl(element, 16 * at));
    }
    loaded.push_back(bits);
  }
  for (unsigned matrix = 0; matrix < move.matrices; ++matrix)
    c.write(targets[matrix], loaded[matrix]);
  addresses.finish();
}

void storeMatrices(PtxContext& c, PtxInstruction& i) {
  const Move move = takeMove(c, i, i.operands[0]);
  const std::vector<std::string> sources = PtxContext::elements(i.operands[1]);
  if (sources.size() != move.matrices)
    c.unsupported(i);
  Emit& e = c.e;
  const Elements elements = elementsOf(e, move.isTransposed);
  const SharedRegisters addresses(e, {move.address});
  for (unsigned matrix = 0; matrix < move.matrices; ++matrix) {
    Value* bits = c.read(sources[matrix], e.i(32));
    for (unsigned at = 0; at < 2; ++at) {
      Value* to = place(e, addresses, matrix, elements.row[at], elements.column[at]);
      e.CreateAlignedStore(e.CreateTrunc(e.CreateLShr(bits, 16 * at), e.i(16)), to, Align(2));
    }
  }
  addresses.finish();
}

/// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void transpose(PtxContext& c, PtxInstruction& i) {
  const bool isPlain = i.take("sync") && i.take("aligned") && i.take("m8n8") && i.take("trans") &&
                       i.take("b16") && i.operands.size() == 2;
  if (!isPlain)
    c.unsupported(i);
  Emit& e = c.e;
  Value* mine = c.read(i.operands[1], e.i(32));
  const Elements elements = elementsOf(e, true);
  const SharedRegisters shared(e, {mine});
  Value* bits = e.getInt32(0);
  for (unsigned at = 0; at < 2; ++at) {
    Value* lane = e.CreateAdd(e.CreateMul(elements.row[at], e.getInt32(kParts)),
                              e.CreateUDiv(elements.column[at], e.getInt32(2)));
    Value* pair = shared.of(lane, 0);
    Value* isUpper = e.CreateURem(elements.column[at], e.getInt32(2));
    Value* element = e.CreateLShr(pair, e.CreateMul(isUpper, e.getInt32(16)));
    bits = e.CreateOr(bits, e.CreateShl(e.CreateAnd(element, 0xffff), 16 * at));
  }
  shared.finish();
  c.write(i.operands[0], bits);
}

constexpr PtxRule kRules[] = {
    {"mma", multiply},
    {"ldmatrix", loadMatrices},
    {"stmatrix", storeMatrices},
    {"movmatrix", transpose},
};

} // namespace

std::span<const PtxRule> ptxMatrixRules() { return kRules; }

} // namespace mneme::compile::cpu
