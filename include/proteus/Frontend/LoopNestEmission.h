// How loops of LoopNest.h are written.
#pragma once

#include "proteus/Frontend/FuncBase.h"
#include "proteus/Frontend/LoopNest.h"

#include <optional>
#include <tuple>

namespace proteus {

template <typename I, typename Init, typename Bound, typename Step, typename Body>
void ForLoopBuilder<I, Init, Bound, Step, Body>::emit() {
  emitWhole([] {});
}

template <typename I, typename Init, typename Bound, typename Step, typename Body>
template <typename Inner>
void ForLoopBuilder<I, Init, Bound, Step, Body>::emitTiles(Inner&& WriteInner) {
  auto Tile = Fn->template declVar<Index>("tile", File, Line);
  auto TileStep = Fn->template defVar<Index>(Inc, "tile.step", File, Line);
  TileStep *= TileSize;
  Fn->beginFor(Tile, First, UpperBound, TileStep, File, Line);
  WriteInner(Tile);
  Fn->endFor(File, Line);
}

template <typename I, typename Init, typename Bound, typename Step, typename Body>
template <typename Inner>
void ForLoopBuilder<I, Init, Bound, Step, Body>::emitWhole(Inner&& WriteInner) {
  Fn->beginFor(Iter, First, UpperBound, Inc, File, Line);
  Write();
  WriteInner();
  Fn->endFor(File, Line, UnrollCount);
}

template <typename I, typename Init, typename Bound, typename Step, typename Body>
template <typename Inner>
void ForLoopBuilder<I, Init, Bound, Step, Body>::emitTile(const Var<Index>& Tile,
                                                          Inner&& WriteInner) {
  auto End = Fn->template defVar<Index>(Inc, "tile.end", File, Line);
  End *= TileSize;
  End += Tile;
  auto Last = Fn->template defVar<Index>(UpperBound, "tile.bound", File, Line);
  Fn->beginFor(Iter, Tile, min(End, Last), Inc, File, Line);
  Write();
  WriteInner();
  Fn->endFor(File, Line);
}

template <typename... Loops>
template <std::size_t D, typename... Tiles>
void LoopNestBuilder<Loops...>::emitTiles(std::tuple<Tiles...> Outer) {
  if constexpr (D == Depth) {
    emitPoints<0>(Outer);
  } else {
    using Tile = std::optional<Var<Index>>;
    auto Next = [&](const Tile& Mine) {
      emitTiles<D + 1>(std::tuple_cat(Outer, std::tuple<Tile>(Mine)));
    };
    auto& Loop = std::get<D>(Nest);
    if (Loop.TileSize > 0)
      Loop.emitTiles([&](const Var<Index>& Mine) { Next(Tile(Mine)); });
    else
      Next(Tile());
  }
}

template <typename... Loops>
template <std::size_t D, typename... Tiles>
void LoopNestBuilder<Loops...>::emitPoints(const std::tuple<Tiles...>& Tile) {
  if constexpr (D < Depth) {
    auto Inner = [&] { emitPoints<D + 1>(Tile); };
    const auto& Mine = std::get<D>(Tile);
    if (Mine)
      std::get<D>(Nest).emitTile(*Mine, Inner);
    else
      std::get<D>(Nest).emitWhole(Inner);
  }
}

} // namespace proteus
