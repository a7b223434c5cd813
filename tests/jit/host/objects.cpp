// Objects by pointer, by reference and by value in each way the ABI has.
#include <cstdio>

#include <proteus/JitInterface.h>

struct Three {
  int a, b, c;
};
struct Floats {
  float x, y, z;
};
struct Large {
  long v[6];
};
struct One {
  char c;
};

int byPointer(const Three* t) {
  proteus::jit_object(t);
  return t->a * 100 + t->b * 10 + t->c;
}
int byReference(const Three& t) {
  proteus::jit_object(t);
  return t.a * 100 + t.b * 10 + t.c;
}
int byValue(Three t) {
  proteus::jit_object(t);
  return t.a * 100 + t.b * 10 + t.c;
}
float floats(Floats f) {
  proteus::jit_object(f);
  return f.x + f.y * f.z;
}
long large(Large l, int k) {
  proteus::jit_object(l);
  long s = k;
  for (long v : l.v)
    s = s * 3 + v;
  l.v[0] = s; // its own copy
  return s + l.v[0];
}
int one(One o) {
  proteus::jit_object(o);
  return o.c;
}
__attribute__((annotate(
    "jit",
    "{\"arg\": 1, \"type\": 12, \"objinfo\": {\"size\": 12, \"pass-by-value\": false}}"))) int
annotated(const Three* t) {
  return t->a + t->b + t->c;
}

int main() {
  Three t{3, 4, 5};
  for (int round = 0; round < 2; ++round) {
    printf("%d %d %d\n", byPointer(&t), byReference(t), byValue(t));
    printf("%g\n", floats({1.5f, 2.5f, 3.5f}));
    printf("%ld %ld\n", large({{1, 2, 3, 4, 5, 6}}, round), large({{1, 2, 3, 4, 5, 7}}, round));
    printf("%d %d\n", one({'x'}), annotated(&t));
    t.b = 9;
  }
}
