// Room rt: who takes over launches at the moment.
#pragma once

#include "runtime/abi/mneme_jit_host.h"
#include "runtime/abi/mneme_rt.h"

namespace mneme::rt {

/// Null when nobody does.
const mneme_hooks* hooks();

/// True while hooks that came through mneme_rt_set_hooks() before any launch are active.
bool isRecording();

/// Says once that tuned kernels are off, if the program has kernels of ours, is recorded and asks
/// for tuned ones.
void warnIfRecordingUntuned();

/// Ends a program with marks where the environment says nonsense to the JIT. Looks at nothing else
/// where it says nothing.
void checkSettings();

/// Opens libmneme_jit where it is wanted. To be called while the program is loaded: later it may
/// have a thread that closes what the loader has just opened.
void prepareTunedKernels();

/// Looks at the environment; loads libmneme_jit if the program asks for tuned kernels. Null if it
/// does not or cannot have them (said once). Called once, at the first launch.
const mneme_hooks* startTunedKernels();

/// Does now what the first launch does, unless the program is recorded.
void prepareLaunches();

/// Does now what the first call of a marked host function does.
void prepareHostFunctions();

using HostFunctionFinder = void* (*)(mneme_host_function * function, void** arguments);

/// Loads libmneme_jit for marked host functions. Null if that cannot be (said once).
HostFunctionFinder startHostFunctions();

} // namespace mneme::rt
