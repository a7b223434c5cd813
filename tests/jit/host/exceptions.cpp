// Exceptions through, into and out of compiled code.
#include <cstdio>
#include <stdexcept>
#include <string>

#define MARKED __attribute__((annotate("jit", 1)))

namespace {
struct Own {
  int code;
};
struct Guard {
  const char* name;
  ~Guard() { printf("~%s\n", name); }
};
struct Derived : std::runtime_error {
  using std::runtime_error::runtime_error;
};
} // namespace

MARKED void throws(int n) {
  Guard guard{"throws"};
  if (n == 1)
    throw Own{7};
  if (n == 2)
    throw std::out_of_range("two");
  if (n == 3)
    throw 42;
  if (n == 4)
    throw Derived("derived");
}

MARKED int catches(int n) {
  Guard guard{"catches"};
  try {
    throws(n);
    return 0;
  } catch (const Own& own) {
    return own.code;
  } catch (const std::logic_error& error) {
    return static_cast<int>(std::string(error.what()).size());
  }
}

MARKED int rethrows(int n) {
  try {
    return catches(n);
  } catch (...) {
    Guard guard{"rethrows"};
    throw;
  }
}

MARKED int never(int n) noexcept { return n + 1; }

int main() {
  for (int n = 0; n < 5; ++n)
    try {
      printf("%d\n", rethrows(n));
    } catch (int number) {
      printf("int %d\n", number);
    } catch (const std::exception& error) {
      printf("exception %s\n", error.what());
    }
  printf("%d\n", never(1));
}
