// Contents of arrays, which are read at every call.
#include <cstdint>
#include <cstdio>

#include <proteus/JitInterface.h>

int sum(const int* v, int n) {
  proteus::jit_array(v, n);
  int s = 0;
  for (int i = 0; i < n; ++i)
    s = s * 10 + v[i];
  return s;
}

double fixed(const double* v) {
  proteus::jit_array(v, 3);
  return v[0] + v[1] * v[2];
}

long bytes(const char* v, unsigned char n) {
  proteus::jit_array(v, n);
  long s = 0;
  for (unsigned i = 0; i < n; ++i)
    s += v[i];
  return s;
}

struct Point {
  int x;
  double y;
};
double points(const Point* v, size_t n) {
  proteus::jit_array(v, n);
  double s = 0;
  for (size_t i = 0; i < n; ++i)
    s += v[i].x * v[i].y;
  return s;
}

__attribute__((
    annotate("jit", "{\"arg\": 1, \"type\": 11, \"arrinfo\": {\"elt-type\": 4, \"num-elts\": 2}}",
             2))) int64_t
annotated(const int64_t* v, int k) {
  return v[0] * v[1] + k;
}

__attribute__((annotate("jit", "{\"arg\": 1, \"type\": 11, \"arrinfo\": {\"elt-type\": 5, "
                               "\"num-elts-pos\": 1, \"num-elts-type\": 4}}"))) float
counted(const float* v, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; ++i)
    s += v[i];
  return s;
}

int main() {
  int v[4] = {1, 2, 3, 4};
  printf("%d %d\n", sum(v, 4), sum(v, 3));
  v[0] = 9;
  printf("%d %d %d\n", sum(v, 4), sum(v, 4), sum(v + 1, 3));
  const double d[3] = {1.5, 2.5, 4.0};
  printf("%g\n", fixed(d));
  printf("%ld\n", bytes("abc", 3));
  Point p[2] = {{1, 2.0}, {3, 4.0}};
  printf("%g\n", points(p, 2));
  p[1].y = 5.0;
  printf("%g\n", points(p, 2));
  const int64_t l[2] = {1ll << 40, 3};
  printf("%lld\n", static_cast<long long>(annotated(l, 5)));
  const float f[3] = {1.f, 2.f, 3.5f};
  printf("%g %g\n", counted(f, 3), counted(f, 2));
}
