// A heat equation on Kokkos, written as Kokkos's tutorials are: what `mneme optimize` made of it is
// in results/frameworks_h200.jsonl. heat [n] [steps]; prints the sum of the field.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
using Field = Kokkos::View<double***>;
struct Coefficients {
  double x, y, z, dt;
};
int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 64, steps = argc > 2 ? std::atoi(argv[2]) : 20;
  Field a("a", n, n, n), b("b", n, n, n);
  Kokkos::parallel_for(
      "init", Kokkos::MDRangePolicy<Kokkos::Rank<3>>({0, 0, 0}, {n, n, n}),
      KOKKOS_LAMBDA(int i, int j, int k) {
        a(i, j, k) = (i * 7 + j * 3 + k) % 11;
        b(i, j, k) = a(i, j, k);
      });
  Coefficients c{0.1, 0.2, 0.15, 0.5};
  for (int s = 0; s < steps; ++s) {
    Kokkos::parallel_for(
        "diffuse", Kokkos::MDRangePolicy<Kokkos::Rank<3>>({1, 1, 1}, {n - 1, n - 1, n - 1}),
        KOKKOS_LAMBDA(int i, int j, int k) {
          const double m = a(i, j, k);
          b(i, j, k) = m + c.dt * (c.x * (a(i - 1, j, k) - 2 * m + a(i + 1, j, k)) +
                                   c.y * (a(i, j - 1, k) - 2 * m + a(i, j + 1, k)) +
                                   c.z * (a(i, j, k - 1) - 2 * m + a(i, j, k + 1)));
        });
    std::swap(a, b);
  }
  double sum = 0;
  Kokkos::parallel_reduce(
      "sum", n * n * n, KOKKOS_LAMBDA(int i, double& t) { t += a.data()[i]; }, sum);
  std::printf("%.17g\n", sum);
}
