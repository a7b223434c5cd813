// Arguments and results in every way that the ABI passes them. A result in memory is the first
// argument, as `this` is of members.
#include <complex>
#include <cstdarg>
#include <cstdio>
#include <string>

#define MARKED(n) __attribute__((annotate("jit", n)))

struct Small {
  int a, b;
};
struct Large {
  long v[5];
};
struct Mixed {
  double d;
  int i;
};

MARKED(1) int variadic(int n, ...) {
  va_list list;
  va_start(list, n);
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += i % 2 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return static_cast<int>(s * 10);
}
MARKED(1) Small small(int n) { return {n, n + 1}; }
MARKED(3) Large large(Large l, int n) {
  l.v[n] += 100;
  return l;
}
MARKED(1) Mixed mixed(int n) { return {n + 0.5, n}; }
MARKED(2) std::string text(int n) { return std::string(n, 'a'); }
MARKED(1) std::complex<double> complex(double re) { return {re, 2 * re}; }
MARKED(1) long double extended(long double x) { return x / 3; }
MARKED(1) __int128 wide(int n) { return static_cast<__int128>(n) << 70; }
MARKED(9)
double many(int a, double b, int c, double d, long e, float f, char g, short h, int i, Large j,
            double k, double l, double m, double n, double o, double p, int q) {
  return a + b + c + d + e + f + g + h + i + j.v[4] + k + l + m + n + o + p + q;
}
MARKED(1) void nothing(int n) { printf("nothing %d\n", n); }
MARKED(1) const char* const& reference(int n) {
  static const char* const names[] = {"zero", "one"};
  return names[n];
}
extern "C" MARKED(1) int plain_c(int n) { return -n; }
MARKED(1) static int hidden(int n) { return n ^ 5; }
inline MARKED(1) int inlined(int n) { return n | 8; }
MARKED(1) __attribute__((always_inline)) inline int always(int n) { return n & 6; }

int main() {
  for (int round = 0; round < 2; ++round) {
    printf("%d %d\n", variadic(4, 1, 2.5, 3, 4.5), variadic(2, 7, 8.5));
    printf("%d %d\n", small(3).a, small(3).b);
    printf("%ld %ld\n", large({{1, 2, 3, 4, 5}}, 2).v[2], large({{1, 2, 3, 4, 5}}, 4).v[4]);
    printf("%g %d %s\n", mixed(4).d, mixed(4).i, text(40).c_str());
    printf("%g %Lg %d\n", complex(1.5).imag(), extended(9), static_cast<int>(wide(3) >> 68));
    printf("%g\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9, {{0, 0, 0, 0, 10}}, 11, 12, 13, 14, 15, 16, 17));
    nothing(round);
    printf("%s %d %d %d %d\n", reference(1), plain_c(5), hidden(9), inlined(3), always(15));
  }
}
