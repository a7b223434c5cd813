// Loops that are described first and written later: tiled, unrolled, nested.
#pragma once

#include "proteus/Frontend/Var.h"

#include <tuple>
#include <type_traits>
#include <utility>

namespace proteus {

class FuncBase;

enum class EmissionPolicy { Eager, Lazy };

/// The body of a loop that has none.
struct EmptyBody {
  void operator()() const {}
};

/// One loop. emit() writes it.
template <typename I, typename Init, typename Bound, typename Step, typename Body>
class ForLoopBuilder {
public:
  using Index = ValueOf<I>;

  ForLoopBuilder(FuncBase& Fn, const Var<I>& Iter, const Init& First, const Bound& UpperBound,
                 const Step& Inc, Body Write, const char* File, unsigned Line)
      : Fn(&Fn), Iter(Iter), First(First), UpperBound(UpperBound), Inc(Inc),
        Write(std::move(Write)), File(File), Line(Line) {}

  /// Iterations per tile. Counts in a nest only, and not together with unroll().
  ForLoopBuilder& tile(int Size) {
    checkedTile(Size, UnrollCount >= 0, File, Line);
    TileSize = Size;
    return *this;
  }
  /// Unrolls as often as the compiler likes.
  ForLoopBuilder& unroll() { return unrollBy(0); }
  ForLoopBuilder& unroll(int Count) { return unrollBy(checkedUnroll(Count, File, Line)); }

  void emit();

private:
  template <typename... Loops> friend class LoopNestBuilder;
  template <typename, typename, typename, typename, typename> friend class ForLoopBuilder;

  static void checkedTile(int Size, bool IsUnrolled, const char* File, unsigned Line) {
    if (Size <= 0)
      reportFatalError("The size of a tile must be positive", File, Line);
    if (IsUnrolled)
      reportFatalError("Cannot tile a loop that is unrolled", File, Line);
  }
  static int checkedUnroll(int Count, const char* File, unsigned Line) {
    if (Count <= 0)
      reportFatalError("The unroll count must be positive", File, Line);
    return Count;
  }
  ForLoopBuilder& unrollBy(int Count) {
    if (TileSize > 0)
      reportFatalError("Cannot unroll a loop that is tiled", File, Line);
    UnrollCount = Count;
    return *this;
  }

  template <typename T> static bool isVariable(const T& Value, const detail::VarBase& Other) {
    if constexpr (std::is_base_of_v<detail::VarBase, T>)
      return Value.getSlot() == Other.getSlot();
    return false;
  }
  /// Tiles of all loops come first: then those further out do not count yet.
  template <typename Outer> void checkApartFrom(const Outer& Loop) const {
    const bool DependsOn = isVariable(First, Loop.Iter) || isVariable(UpperBound, Loop.Iter) ||
                           isVariable(Inc, Loop.Iter);
    if (TileSize > 0 && DependsOn)
      reportFatalError("Cannot tile a loop whose range depends on the counter of an outer loop",
                       File, Line);
  }

  /// Calls `Inner` inside a loop over the beginnings of tiles, with the variable that counts them.
  template <typename Inner> void emitTiles(Inner&& WriteInner);
  /// A loop over the whole range, or over one tile, around its body and what `Inner` writes.
  template <typename Inner> void emitWhole(Inner&& WriteInner);
  template <typename Inner> void emitTile(const Var<Index>& Tile, Inner&& WriteInner);

  FuncBase* Fn;
  Var<I> Iter;
  Init First;
  Bound UpperBound;
  Step Inc;
  Body Write;
  const char* File;
  unsigned Line;
  int TileSize = 0;
  int UnrollCount = -1;
};

/// Loops in each other. emit() writes first the loops over tiles, in order, then those over points.
template <typename... Loops> class LoopNestBuilder {
  static_assert(sizeof...(Loops) > 0, "a nest needs at least one loop");
  using Index = typename std::tuple_element_t<0, std::tuple<Loops...>>::Index;
  static_assert((std::is_same_v<Index, typename Loops::Index> && ...),
                "the loops of a nest have indices of one type");
  static constexpr std::size_t Depth = sizeof...(Loops);

public:
  LoopNestBuilder(FuncBase& Fn, const Loops&... Nested) : Fn(&Fn), Nest(Nested...) {}

  /// All loops.
  LoopNestBuilder& tile(int Size) {
    std::apply([Size](auto&... Loop) { (Loop.tile(Size), ...); }, Nest);
    return *this;
  }

  void emit() {
    checkRanges(std::make_index_sequence<Depth>());
    emitTiles<0>(std::tuple<>{});
  }

private:
  template <std::size_t... Numbers> void checkRanges(std::index_sequence<Numbers...>) const {
    (checkRange<Numbers>(std::make_index_sequence<Numbers>()), ...);
  }
  template <std::size_t Number, std::size_t... Outer>
  void checkRange(std::index_sequence<Outer...>) const {
    (std::get<Number>(Nest).checkApartFrom(std::get<Outer>(Nest)), ...);
  }

  /// \param Tiles  per loop further out: the variable of its tiles, or none
  template <std::size_t D, typename... Tiles> void emitTiles(std::tuple<Tiles...> Outer);
  template <std::size_t D, typename... Tiles> void emitPoints(const std::tuple<Tiles...>& Tile);

  FuncBase* Fn;
  std::tuple<Loops...> Nest;
};

} // namespace proteus
