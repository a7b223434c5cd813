// Virtual calls, run-time type information, members, templates.
#include <cstdio>
#include <typeinfo>

#define MARKED(n) __attribute__((annotate("jit", n)))

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double a;
  explicit Square(double a) : a(a) {}
  double area() const override { return a * a; }
};
namespace {
struct Circle final : Shape {
  double r;
  explicit Circle(double r) : r(r) {}
  double area() const override { return 3 * r * r; }
};
} // namespace

MARKED(2) double scaled(const Shape& shape, double by) { return shape.area() * by; }

MARKED(1) double makes(int n) {
  Square square(n);
  Circle circle(n);
  const Shape* shapes[] = {&square, &circle};
  double s = 0;
  for (const Shape* shape : shapes) {
    if (const auto* round = dynamic_cast<const Circle*>(shape))
      s += round->r;
    s += shape->area() + (typeid(*shape) == typeid(Square) ? 1000 : 0);
  }
  return s;
}

MARKED(1) Shape* made(int n) { return n ? static_cast<Shape*>(new Square(n)) : new Circle(2); }

struct Account {
  int balance = 10;
  MARKED(2) int add(int n) { return balance += n; }
  MARKED(1) static int of(int n) { return n * 7; }
  virtual MARKED(2) int bonus(int n) const { return balance * n; }
  virtual ~Account() = default;
};

template <typename T, int N> MARKED(1) T power(T v) {
  T result = 1;
  for (int i = 0; i < N; ++i)
    result *= v;
  return result;
}

struct Number {
  int value;
  MARKED(2) Number(int v) : value(v + 1) {}
  MARKED(3) Number operator+(int v) const { return Number(value + v); }
  __attribute__((annotate("jit"))) ~Number() {}
};

int main() {
  for (int round = 0; round < 2; ++round) {
    printf("%g %g\n", scaled(Square(3), 2), scaled(Circle(3), 2));
    printf("%g\n", makes(3));
    Shape* square = made(4);
    Shape* circle = made(0);
    printf("%g %g %d %d\n", square->area(), circle->area(),
           dynamic_cast<Square*>(square) != nullptr, dynamic_cast<Square*>(circle) != nullptr);
    delete square;
    delete circle;
    Account account;
    printf("%d %d %d\n", account.add(5), Account::of(3), account.bonus(2));
    printf("%d %g\n", power<int, 3>(4), power<double, 2>(1.5));
    printf("%d\n", (Number(3) + 4).value);
  }
}
