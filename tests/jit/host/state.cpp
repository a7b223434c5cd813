// What the program has one of: variables of every kind, and addresses.
#include <cstdio>
#include <memory>
#include <thread>

#define MARKED __attribute__((annotate("jit", 1)))

int global = 1;
static int hidden = 2;
inline int everywhere = 3;
extern const int table[];
const int table[4] = {4, 5, 6, 7};
static const int own[3] = {8, 9, 10};
thread_local int perThread = 11;
static thread_local std::unique_ptr<int> withDestructor = std::make_unique<int>(12);

struct Counter {
  int n = 0;
  Counter() { printf("constructed\n"); }
  ~Counter() { printf("destroyed at %d\n", n); }
};

inline int next() {
  static Counter counter;
  return ++counter.n;
}

static int twice(int v) { return 2 * v; }
static int (*chosen)(int) = twice;

MARKED int work(int k) {
  static int calls = 0;
  static std::unique_ptr<int> lazily = std::make_unique<int>(k);
  ++calls;
  global += k;
  hidden += k;
  everywhere += k;
  perThread += k;
  *withDestructor += k;
  return calls + global + hidden + everywhere + table[k % 4] + own[k % 3] + perThread +
         *withDestructor + next() + chosen(k) + *lazily;
}

MARKED const int* addressOf(int k) { return &own[k]; }
using Function = int (*)(int);
MARKED Function functionAddress(int) { return twice; }
MARKED const char* text(int) { return "text"; }

int main() {
  for (int round = 0; round < 3; ++round)
    printf("%d\n", work(round % 2));
  std::thread([] { printf("%d\n", work(1)); }).join();
  printf("%d %d %d %d %d\n", global, hidden, everywhere, perThread, *withDestructor);
  printf("%d %d %s\n", addressOf(1) == &own[1], functionAddress(0) == twice, text(0));
}
