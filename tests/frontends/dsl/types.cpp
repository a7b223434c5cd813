// Variables of every type, arithmetic, conversions, comparisons.
#include "check.h"

#include <cstddef>
#include <cstdint>
#include <proteus/JitFrontend.h>
#include <string>
#include <type_traits>

using namespace proteus;

// The result types of operators are those of std::common_type.
static_assert(
    std::is_same_v<decltype(std::declval<Var<int>>() + std::declval<Var<double>>()), Var<double>>);
static_assert(std::is_same_v<decltype(std::declval<Var<int>>() * 2.0f), Var<float>>);
static_assert(std::is_same_v<decltype(1 - std::declval<Var<size_t&>>()), Var<size_t>>);
static_assert(std::is_same_v<decltype(std::declval<Var<const int>>() % 3u), Var<unsigned>>);
static_assert(std::is_same_v<decltype(std::declval<Var<double>>() < 3), Var<bool>>);
static_assert(!std::is_assignable_v<Var<const int>&, int>);
static_assert(!std::is_assignable_v<Var<const int>&, const Var<const int>&>);
static_assert(!std::is_copy_assignable_v<Var<const double>>);
static_assert(std::is_copy_constructible_v<Var<const double>>);
static_assert(!std::is_copy_constructible_v<JitModule>);

template <typename T> void arithmetic(const char* Name, T A, T B) {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(T, T, T*)>("arithmetic");
  F.beginFunction();
  {
    auto [L, R, Out] = F.getArgs();
    Out[0] = L + R;
    Out[1] = L - R;
    Out[2] = L * R;
    Out[3] = L / R;
    Out[4] = T(7) - L;
    Out[5] = R + T(2);
    auto V = F.defVar(L);
    V += R;
    V *= T(3);
    V -= T(1);
    V /= R;
    Out[6] = V;
    Out[7] = -L;
    F.ret();
  }
  F.endFunction();
  J.compile(true);
  T Out[8] = {};
  F(A, B, Out);
  T V = A;
  V += B;
  V *= T(3);
  V -= T(1);
  V /= B;
  const T Expected[] = {T(A + B), T(A - B), T(A * B), T(A / B), T(T(7) - A), T(B + T(2)), V, T(-A)};
  for (int I = 0; I < 8; ++I)
    check((std::string(Name) + " " + std::to_string(I)).c_str(), Out[I], Expected[I]);
}

template <typename T> void remainders(const char* Name, T A, T B) {
  JitModule J("native", kBackend);
  auto& F = J.addFunction<T(T, T)>("remainder");
  F.function([&] {
    auto& L = F.template getArg<0>();
    auto& R = F.template getArg<1>();
    auto V = F.defVar(L % R);
    V %= T(4);
    F.ret(V + L % T(5));
  });
  check(Name, F(A, B), T(A % B % T(4) + A % T(5)));
}

template <typename From, typename To> void converts(const char* Name, From Value) {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<To(From)>("member");
  F.function([&] { F.ret(F.template getArg<0>().template convert<To>()); });
  auto& G = J.addFunction<To(From)>("function");
  G.function([&] { G.ret(G.template convert<To>(G.template getArg<0>())); });
  auto& H = J.addFunction<To(From)>("assigned");
  H.function([&] {
    auto V = H.template declVar<To>("v");
    V = H.template getArg<0>();
    H.ret(V);
  });
  check(Name, F(Value), static_cast<To>(Value));
  check(Name, G(Value), static_cast<To>(Value));
  check(Name, H(Value), static_cast<To>(Value));
}

template <typename L, typename R> void compares(const char* Name, L A, R B) {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<int(L, R)>("compare");
  F.function([&] {
    auto& X = F.template getArg<0>();
    auto& Y = F.template getArg<1>();
    auto Bits = F.defVar(0, "bits");
    int Bit = 1;
    for (auto C : {X<Y, X <= Y, X> Y, X >= Y, X == Y, X != Y, !(X < Y)}) {
      F.beginIf(C);
      Bits += Bit;
      F.endIf();
      Bit *= 2;
    }
    F.ret(Bits);
  });
  const L Right = static_cast<L>(B); // the right side gets the type of the left side
  const int Expected = (A < Right) + 2 * (A <= Right) + 4 * (A > Right) + 8 * (A >= Right) +
                       16 * (A == Right) + 32 * (A != Right) + 64 * !(A < Right);
  check(Name, F(A, B), Expected);
}

static void booleans() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<bool(int, bool)>("f");
  F.function([&] {
    auto& I = F.getArg<0>();
    auto& B = F.getArg<1>();
    auto R = F.declVar<bool>("r");
    R = I > 3;
    F.ifThen(!B, [&] { R = false; });
    F.ret(R);
  });
  auto& G = J.addFunction<int(bool)>("g");
  G.function([&] { G.ret(G.getArg<0>().convert<int>() + 1); });
  auto& H = J.addFunction<bool(double)>("h");
  H.function([&] { H.ret(!H.getArg<0>()); });
  check("true and true", F(4, true), true);
  check("true and false", F(4, false), false);
  check("false", F(3, true), false);
  check("bool to int", G(true), 2);
  check("not 0.0", H(0.0), true);
  check("not 0.5", H(0.5), false);
}

int main() {
  arithmetic<int>("int", -17, 5);
  arithmetic<unsigned>("unsigned", 0xfffffff0u, 7u);
  arithmetic<size_t>("size_t", 1000000000000u, 13u);
  arithmetic<float>("float", 1.5f, -0.1f);
  arithmetic<double>("double", 1e100, 3.0);
  arithmetic<int64_t>("int64_t", -1000000000000, 13);
  arithmetic<int8_t>("int8_t", 100, 100); // wraps, as int would be stored
  remainders<int>("int %", -17, 5);
  remainders<unsigned>("unsigned %", 0xfffffff0u, 9u);
  remainders<size_t>("size_t %", size_t(-1), 10u);
  converts<int, double>("int double", -3);
  converts<unsigned, double>("unsigned double", 0xffffffffu);
  converts<double, int>("double int", -3.9);
  converts<double, float>("double float", 0.1);
  converts<float, double>("float double", 0.1f);
  converts<int, size_t>("int size_t", -1);
  converts<unsigned, size_t>("unsigned size_t", 0xffffffffu);
  converts<size_t, int>("size_t int", 0x1fffffffful);
  converts<size_t, float>("size_t float", ~size_t(0));
  converts<float, unsigned>("float unsigned", 3e9f);
  converts<int, bool>("int bool", 4);
  converts<double, bool>("double bool", 0.5);
  converts<bool, float>("bool float", true);
  compares<int, int>("int int", -1, 1);
  compares<unsigned, int>("unsigned int", 1u, -1);
  compares<int, unsigned>("int unsigned", -1, 4294967295u);
  compares<int, double>("int double", 2, 2.9);
  compares<double, int>("double int", 2.5, 2);
  compares<float, double>("float double", 0.1f, 0.1);
  compares<double, double>("not a number", std::nan(""), 1.0);
  compares<size_t, size_t>("size_t", ~size_t(0), 1u);
  booleans();
  return report();
}
