// Room jit/rt: the hooks that currently take over launches.
#pragma once

#include "runtime/core/abi/mneme_jit_host.h"
#include "runtime/core/abi/mneme_rt.h"

namespace mneme::rt {

/// Returns the active hooks; null if there are none.
const mneme_hooks* hooks();

/// True while hooks that came through mneme_rt_set_hooks() before any launch are active.
bool isRecording();

/// Says that no kernel runs on this machine, and how the program can run without a GPU.
/// `isDriverThere`: the vendor's driver answers.
void explainNoDevice(bool isDriverThere);

/// Makes a program without a GPU say so if it dies of memory that was not allocated. Changes
/// nothing if there is a GPU or the CPU device, or if the program has a handler; one that it
/// installs later replaces ours.
void prepareToTellOfNoGpu();

/// Returns what to register in place of a unit's fat binary wrapper, or null: see
/// mneme_jit_complete_code(). Costs a system call where there is no NVIDIA GPU.
const void* completeCode(const void* wrapper);

/// Says once that tuned kernels are off, if the program has kernels of ours, is recorded and asks
/// for tuned ones.
void warnIfRecordingUntuned();

/// Ends a program with marks where the environment says nonsense to the JIT. Looks at nothing else
/// where it says nothing.
void checkSettings();

/// Opens libmneme_jit where it is wanted. To be called while the program is loaded: later it may
/// have a thread that closes what the loader has just opened.
void prepareTunedKernels();

/// Reads the environment and loads libmneme_jit if tuned kernels are wanted. Returns null if they
/// are not wanted or not possible (reported once). Called once, at the first launch.
const mneme_hooks* startTunedKernels();

/// Hooks that delay launches as the file says that MNEME_DELAYS names, and then call those that are
/// given; these alone if there is none. Each of its lines says for how many nanoseconds at least
/// and at most, and for which kernel.
const mneme_hooks* withDelays(const mneme_hooks* hooks);

/// Does now what the first launch does, unless the program is recorded.
void prepareLaunches();

/// Does now what the first call of a marked host function does.
void prepareHostFunctions();

using HostFunctionFinder = void* (*)(mneme_host_function * function, void** arguments);

/// Loads libmneme_jit for marked host functions. Returns null if that fails (reported once).
HostFunctionFinder startHostFunctions();

} // namespace mneme::rt
