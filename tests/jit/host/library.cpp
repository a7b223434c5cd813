// The C++ library inside compiled code.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#define MARKED __attribute__((annotate("jit", 1)))

__attribute__((annotate("jit", 2))) std::vector<int> numbers(int n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 1);
  std::sort(v.begin(), v.end(), std::greater<>());
  return v;
}

__attribute__((annotate("jit", 2))) std::string words(int n) {
  std::map<std::string, int> counts;
  std::unordered_map<int, std::string> names;
  for (int i = 0; i < n; ++i) {
    counts["word" + std::to_string(i % 3)] += i;
    names[i] = std::string(i, 'x');
  }
  std::ostringstream out;
  for (const auto& [word, count] : counts)
    out << word << '=' << count << ' ';
  out << names.size() << ' ' << names[n - 1];
  return out.str();
}

MARKED double maths(double x) {
  return std::sin(x) + std::pow(x, 2) + std::sqrt(x) + std::floor(x) + std::fma(x, x, 1.0) +
         std::exp(0.0) + std::hypot(3.0, 4.0);
}

MARKED int callbacks(int n) {
  int sum = 0;
  std::function<void(int)> add = [&](int v) { sum += v * n; };
  for (int i = 0; i < 4; ++i)
    add(i);
  auto shared = std::make_shared<int>(n);
  const int values[] = {5, 3, 9};
  sum += *std::max_element(values, values + 3) + *shared;
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%d", n);
  return sum + static_cast<int>(strlen(buffer)) + static_cast<int>(shared.use_count());
}

MARKED void prints(int n) { std::cout << "n is " << n << ", " << 2.5 * n << std::endl; }

int main() {
  for (int round = 0; round < 2; ++round) {
    const std::vector<int> sorted = numbers(5);
    printf("%d %d\n", sorted.front(), sorted.back());
    printf("%s\n", words(7).c_str());
    printf("%.12g\n%d\n", maths(2.25), callbacks(3));
    fflush(stdout);
    prints(4);
  }
}
