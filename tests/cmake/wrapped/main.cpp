#include <cstdio>

bool first();
bool second();

int main() {
  if (!first() || !second())
    return 1;
  std::puts(GREETING);
  return 0;
}
