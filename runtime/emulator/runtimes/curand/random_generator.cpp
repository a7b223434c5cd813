// cuRAND's host functions on the CPU device: its own kernels have no IR, so that the processor
// makes the numbers. Functions that few programs call are in unsupported.txt.
#include <array>
#include <cmath>
#include <new>
#include <string>

#include <dlfcn.h>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/unsupported.h"
#include "runtime/emulator/runtimes/curand/random_numbers.h"

using mneme::cpu_runtime::curand::Distribution;
using mneme::cpu_runtime::curand::Sequence;
using mneme::cpu_runtime::curand::Shape;

namespace {

enum Status : int {
  Success = 0,
  NotInitialized = 101,
  AllocationFailed = 102,
  TypeError = 103,
  OutOfRange = 104,
  LengthNotMultiple = 105,
  LaunchFailure = 201,
  InternalError = 999
};

constexpr int kFirstPseudo = 100, kLastPseudo = 161, kFirstQuasi = 200, kLastQuasi = 204;
constexpr int kFirstOrdering = 100, kLastOrdering = 104;
constexpr int kMajor = 10, kMinor = 4, kPatch = 0;

struct Generator {
  bool isOfHost = false;
  void* stream = nullptr;
  Sequence sequence;
};

/// A function of CUDA's runtime on the CPU device.
template <typename... Arguments> int callRuntime(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  return function ? function(arguments...) : -1;
}

/// Whether this is memory of CUDA's: to a GPU all other is a wrong address.
bool isDeviceMemory(const void* address) {
  alignas(8) std::array<int, 64> attributes{}; // the first is the kind of memory, 0 if unknown
  return callRuntime("cudaPointerGetAttributes", static_cast<void*>(attributes.data()), address) ==
             0 &&
         attributes[0] != 0;
}

int create(Generator** generator, int type, bool isOfHost) {
  if (!generator)
    return InternalError;
  if (type >= kFirstQuasi && type <= kLastQuasi) {
    mneme::noticeOnce("cuRAND's quasirandom generators are not supported on the CPU device");
    return TypeError;
  }
  if (type < kFirstPseudo || type > kLastPseudo)
    return TypeError;
  *generator = new (std::nothrow) Generator{.isOfHost = isOfHost, .sequence = {}};
  return *generator ? Success : AllocationFailed;
}

/// What was given to the stream before is done first; what follows finds the numbers.
template <typename Number>
int generate(Generator* generator, const Shape& shape, Number* numbers, size_t count) {
  if (!generator)
    return NotInitialized;
  if (count == 0)
    return Success;
  if (!numbers || !(generator->isOfHost || isDeviceMemory(numbers)) ||
      callRuntime("cudaStreamSynchronize", generator->stream) != 0)
    return LaunchFailure;
  mneme::noticeOnce("cuRAND's kernels have no mneme IR: on the CPU device the processor fills "
                    "memory with random numbers, which are not those of a GPU");
  fill(generator->sequence, shape, numbers, count);
  return Success;
}

/// cuRAND makes normally distributed numbers in pairs.
template <typename Number>
int generatePairs(Generator* generator, const Shape& shape, Number* numbers, size_t count) {
  return count % 2 == 0 ? generate(generator, shape, numbers, count) : LengthNotMultiple;
}

} // namespace

int mneme::cpu_runtime::unsupported(const char* name) noexcept {
  try {
    noticeOnce(std::string(name) + " is not supported on the CPU device");
  } catch (...) { // no memory for the message
  }
  return InternalError;
}

MNEME_RUNTIME_API int curandCreateGenerator(Generator** generator, int type) {
  return create(generator, type, false);
}
MNEME_RUNTIME_API int curandCreateGeneratorHost(Generator** generator, int type) {
  return create(generator, type, true);
}

MNEME_RUNTIME_API int curandDestroyGenerator(Generator* generator) {
  if (!generator)
    return NotInitialized;
  delete generator;
  return Success;
}

MNEME_RUNTIME_API int curandGetVersion(int* version) {
  if (!version)
    return OutOfRange;
  *version = 1000 * kMajor + 100 * kMinor + kPatch;
  return Success;
}

MNEME_RUNTIME_API int curandGetProperty(int part, int* value) {
  constexpr std::array kParts{kMajor, kMinor, kPatch};
  if (!value || part < 0 || part >= static_cast<int>(kParts.size()))
    return OutOfRange;
  *value = kParts[static_cast<size_t>(part)];
  return Success;
}

MNEME_RUNTIME_API int curandSetStream(Generator* generator, void* stream) {
  if (!generator)
    return NotInitialized;
  generator->stream = stream;
  return Success;
}

MNEME_RUNTIME_API int curandSetPseudoRandomGeneratorSeed(Generator* generator,
                                                         unsigned long long seed) {
  if (!generator)
    return NotInitialized;
  generator->sequence = {.seed = seed};
  return Success;
}

MNEME_RUNTIME_API int curandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  if (!generator)
    return NotInitialized;
  generator->sequence.position = offset;
  return Success;
}

/// There is one order here.
MNEME_RUNTIME_API int curandSetGeneratorOrdering(Generator* generator, int ordering) {
  if (!generator)
    return NotInitialized;
  return ordering >= kFirstOrdering && ordering <= kLastOrdering ? Success : OutOfRange;
}

MNEME_RUNTIME_API int curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned) {
  return generator ? TypeError : NotInitialized;
}

MNEME_RUNTIME_API int curandGenerateSeeds(Generator* generator) {
  return generator ? Success : NotInitialized;
}

MNEME_RUNTIME_API int curandGenerate(Generator* generator, unsigned* numbers, size_t count) {
  return generate(generator, {}, numbers, count);
}

/// Quasirandom generators alone have numbers of 64 bits.
MNEME_RUNTIME_API int curandGenerateLongLong(Generator* generator, unsigned long long*, size_t) {
  return generator ? TypeError : NotInitialized;
}

MNEME_RUNTIME_API int curandGenerateUniform(Generator* generator, float* numbers, size_t count) {
  return generate(generator, {Distribution::Uniform}, numbers, count);
}
MNEME_RUNTIME_API int curandGenerateUniformDouble(Generator* generator, double* numbers,
                                                  size_t count) {
  return generate(generator, {Distribution::Uniform}, numbers, count);
}

MNEME_RUNTIME_API int curandGenerateNormal(Generator* generator, float* numbers, size_t count,
                                           float mean, float deviation) {
  return generatePairs(generator, {Distribution::Normal, mean, deviation}, numbers, count);
}
MNEME_RUNTIME_API int curandGenerateNormalDouble(Generator* generator, double* numbers,
                                                 size_t count, double mean, double deviation) {
  return generatePairs(generator, {Distribution::Normal, mean, deviation}, numbers, count);
}

MNEME_RUNTIME_API int curandGenerateLogNormal(Generator* generator, float* numbers, size_t count,
                                              float mean, float deviation) {
  return generatePairs(generator, {Distribution::LogNormal, mean, deviation}, numbers, count);
}
MNEME_RUNTIME_API int curandGenerateLogNormalDouble(Generator* generator, double* numbers,
                                                    size_t count, double mean, double deviation) {
  return generatePairs(generator, {Distribution::LogNormal, mean, deviation}, numbers, count);
}

MNEME_RUNTIME_API int curandGeneratePoisson(Generator* generator, unsigned* numbers, size_t count,
                                            double lambda) {
  if (!(lambda > 0) || !std::isfinite(lambda))
    return OutOfRange;
  return generate(generator, {Distribution::Poisson, lambda}, numbers, count);
}
