#include "runtime/jit/readable_args.h"

#include <exception>

namespace mneme::jit {

ReadableArgs::ReadableArgs(Backend& backend, std::span<const ValueSource> sources, void** args,
                           size_t count) noexcept
    : args_(args) {
  try {
    for (const ValueSource& source : sources)
      if (source.isPointee() && source.sizeBytes(args) > 0 &&
          !backend.isHostReadable(source.place(args)))
        replace(backend, source, args, count);
  } catch (const std::exception&) { // no memory
    args_ = nullptr;
  }
}

void ReadableArgs::replace(Backend& backend, const ValueSource& source, void** args, size_t count) {
  if (own_.empty()) {
    own_.assign(args, args + count);
    pointers_.resize(count);
    args_ = own_.data();
  }
  std::vector<std::byte> copy(source.sizeBytes(args));
  const bool isCopied = backend.copyToHost(copy.data(), source.place(args), copy.size());
  pointers_[source.index()] = isCopied ? copy.data() : nullptr;
  own_[source.index()] = &pointers_[source.index()];
  copies_.push_back(std::move(copy));
}

} // namespace mneme::jit
