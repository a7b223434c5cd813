// Room compile: what goes to the compiler process and what comes back. Holds no LLVM.
//
// Either way: magic, a checksum of the rest, then packed fields. Both sides belong to one build;
// the magic changes with the format, so that a program left over from another version is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/compile/service/client.h"

namespace mneme::compile {

/// What the compiler process answers: a result, or the error of compile().
struct Answer {
  ErrorCode code = ErrorCode::Ok;
  std::string message;
  Result result;
};

/// Precedes the answer, at once: the request has been taken.
inline constexpr unsigned char kTaken = 'T';

std::string packRequest(const Request& request);
/// Nothing if the bytes are no whole request of this version.
std::optional<Request> unpackRequest(std::span<const std::byte> bytes);

std::string packAnswer(const Answer& answer);
/// Nothing if the bytes are no whole answer of this version.
std::optional<Answer> unpackAnswer(std::span<const std::byte> bytes);

} // namespace mneme::compile
