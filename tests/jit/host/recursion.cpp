// Recursion, into oneself and into each other: every call is for its own values.
#include <cstdio>

#define MARKED __attribute__((annotate("jit", 1)))

MARKED int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
bool isOdd(int n);
MARKED bool isEven(int n) { return n == 0 || isOdd(n - 1); }
MARKED bool isOdd(int n) { return n != 0 && isEven(n - 1); }

int main() {
  printf("%d %d %d\n", fib(10), isEven(6), isOdd(6));
  int (*pointer)(int) = fib;
  printf("%d\n", pointer(10));
}
