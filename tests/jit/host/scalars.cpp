// Every kind of scalar, by the attribute and from inside.
#include <cstdint>
#include <cstdio>

#include <proteus/JitInterface.h>

#define MARKED(...) __attribute__((annotate("jit", __VA_ARGS__)))

MARKED(1) int ofBool(bool v) { return v ? 11 : 22; }
MARKED(1) int ofChar(char v) { return v + 1; }
MARKED(1) int ofUnsignedChar(unsigned char v) { return v + 1; }
MARKED(1) int ofInt(int v) { return v * 3; }
MARKED(1) unsigned ofUnsigned(unsigned v) { return v / 3; }
MARKED(1) long ofLong(long v) { return v - 5; }
MARKED(1) unsigned long long ofLongLong(unsigned long long v) { return v >> 3; }
MARKED(1) float ofFloat(float v) { return v * 2.5f; }
MARKED(1) double ofDouble(double v) { return v * 2.5; }
MARKED(1) long double ofLongDouble(long double v) { return v * 2.5L; }
MARKED(1) bool ofPointer(const int* v) { return v == reinterpret_cast<const int*>(0x123); }

enum class Color : unsigned { Red = 1, Blue = 7 };
int fromInside(bool b, char c, int i, long l, float f, double d, long double x, int* p, Color e) {
  proteus::jit_arg(b);
  proteus::jit_arg(c);
  proteus::jit_arg(i);
  proteus::jit_arg(l);
  proteus::jit_arg(f);
  proteus::jit_arg(d);
  proteus::jit_arg(x);
  proteus::jit_arg(p);
  proteus::jit_arg(e);
  return b + c + i + static_cast<int>(l) + static_cast<int>(f + d + x) + (p == nullptr) +
         static_cast<int>(e);
}

__attribute__((annotate("jit"))) int ofNothing(int v) { return v + 1; }
MARKED("{\"arg\": 2}") int ofJson(int a, int b) { return a - b; }

int main() {
  for (int round = 0; round < 2; ++round) {
    printf("%d %d %d\n", ofBool(true), ofBool(false), ofBool(round == 0));
    printf("%d %d\n", ofChar('a'), ofChar(-128));
    printf("%d %d\n", ofUnsignedChar(255), ofUnsignedChar(0));
    printf("%d %d\n", ofInt(1024), ofInt(-7));
    printf("%u\n", ofUnsigned(4294967295u));
    printf("%ld\n", ofLong(INT64_MIN + 5));
    printf("%llu\n", ofLongLong(UINT64_MAX));
    printf("%g %g\n", ofFloat(6.2f), ofFloat(-0.0f));
    printf("%g\n", ofDouble(6.2));
    printf("%Lg\n", ofLongDouble(6.2L));
    printf("%d\n", ofPointer(reinterpret_cast<const int*>(0x123)));
    printf("%d\n", fromInside(true, 'b', 3, 4L, 5.5f, 6.5, 7.0L, nullptr, Color::Blue));
    printf("%d %d\n", ofNothing(1), ofNothing(2));
    printf("%d\n", ofJson(9, 4));
  }
}
