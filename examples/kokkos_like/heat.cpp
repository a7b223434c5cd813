// Heat in a plate: each row is an iteration of a parallel loop, each point one of a loop inside it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "portable.h"

namespace {

struct Plate {
  portable::View<double> now, next;
  double conductivity, dx, dt;
  long rows, columns;

  void step() const;
};

void Plate::step() const {
  const double factor = conductivity * dt / (dx * dx);
  const auto from = now, to = next;
  const long last = columns - 1;
  portable::parallel_for(
      "heat step", portable::RangePolicy(1, rows - 1), PORTABLE_LAMBDA(long i) {
        portable::for_each(1, last, [&](long j) {
          const double around = from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1);
          to(i, j) = from(i, j) + factor * (around - 4 * from(i, j));
        });
      });
}

/// The same on the host.
double expected(long size, int steps, double factor, long row, long column) {
  double* plate[2];
  for (double*& one : plate)
    one = static_cast<double*>(std::calloc(size * size, sizeof(double)));
  for (double* one : plate)
    for (long j = 0; j < size; ++j)
      one[j] = 100.0;
  for (int k = 0; k < steps; ++k) {
    const double* from = plate[k % 2];
    double* to = plate[(k + 1) % 2];
    for (long i = 1; i < size - 1; ++i)
      for (long j = 1; j < size - 1; ++j) {
        const double* at = from + i * size + j;
        to[i * size + j] = *at + factor * (at[-size] + at[size] + at[-1] + at[1] - 4 * *at);
      }
  }
  const double result = plate[steps % 2][row * size + column];
  std::free(plate[0]);
  std::free(plate[1]);
  return result;
}

} // namespace

int main(int argc, char** argv) {
  const long size = argc > 1 ? std::atol(argv[1]) : 128;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 4;
  portable::initialize();
  Plate plate{{"now", size, size}, {"next", size, size}, 0.5, 1.0, 0.2, size, size};
  for (const auto& view : {plate.now, plate.next})
    portable::parallel_for(
        "boundary", portable::RangePolicy(0, size), PORTABLE_LAMBDA(long i) {
          portable::for_each(0, view.extent[1], [&](long j) { view(i, j) = i == 0 ? 100.0 : 0.0; });
        });
  for (int k = 0; k < steps; ++k) {
    plate.step();
    std::swap(plate.now, plate.next);
  }
  portable::fence();
  const double found = plate.now(1, size / 2);
  const double wanted = expected(size, steps, 0.1, 1, size / 2);
  portable::finalize();
  const bool isCorrect = std::fabs(found - wanted) < 1e-9;
  std::printf("%.6f\n%s\n", found, isCorrect ? "PASSED" : "FAILED");
  return isCorrect ? 0 : 1;
}
