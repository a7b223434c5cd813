// The library that unloading.cpp loads.
static int calls = 0;

struct Base {
  virtual ~Base() = default;
  virtual int value() const { return 5; }
};

extern "C" __attribute__((annotate("jit", 1))) int in_library(int n) {
  Base base;
  const Base& seen = base;
  return n * 100 + seen.value() + ++calls;
}
