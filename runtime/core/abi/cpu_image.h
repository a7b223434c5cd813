// Room core/abi: the contract between a compiled CPU image (made by runtime/compiler) and the CPU
// device that runs it (runtime/emulator/executor). C layout, no includes of ours.
//
// An image is an ELF shared object for one kernel. It exports exactly one data symbol,
// `mneme_cpu_image`. Its only undefined symbols are those of libm, libc (memcpy, memset...) and
// libgcc; everything else goes through `*services`.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_CPU_IMAGE_ABI 2u
#define MNEME_CPU_WARP_SIZE 32u ///< unless the image says 64

/// Constant for one launch.
typedef struct mneme_cpu_launch {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3]; ///< 1,1,1 unless launched with a cluster
  uint32_t dynamicSharedBytes;
  void* const* args; ///< one pointer per kernel argument
  uint64_t gridId;   ///< %gridid
  /// Cooperative launches: zeroed memory for grid synchronisation; %envreg1 is the high and
  /// %envreg2 the low half of this address. Null for other launches.
  void* gridWorkspace;
} mneme_cpu_launch;

/// One logical thread (fiber images), or the current block (loop images; `threadId` is then
/// unused). The runtime embeds this as the first member of its own per-thread state.
typedef struct mneme_cpu_context {
  const mneme_cpu_launch* launch;
  uint32_t blockId[3];
  uint32_t threadId[3];
  uint32_t lane; ///< linear thread id % warp size
  uint32_t warp; ///< linear thread id / warp size
  char* shared;  ///< the block's shared memory: static part first, then the dynamic part
  char* scratch; ///< loop images: scratchBytes times the threads of a block, 256-byte aligned
} mneme_cpu_context;

enum mneme_cpu_shuffle {
  MNEME_SHFL_IDX = 0,
  MNEME_SHFL_UP = 1,
  MNEME_SHFL_DOWN = 2,
  MNEME_SHFL_BFLY = 3
};
enum mneme_cpu_vote {
  MNEME_VOTE_ALL = 0,
  MNEME_VOTE_ANY = 1,
  MNEME_VOTE_UNI = 2,
  MNEME_VOTE_BALLOT = 3
};
enum mneme_cpu_reduce { MNEME_REDUCE_POPC = 0, MNEME_REDUCE_AND = 1, MNEME_REDUCE_OR = 2 };
enum mneme_cpu_warp_reduce {
  MNEME_REDUX_ADD = 0,
  MNEME_REDUX_UMIN,
  MNEME_REDUX_UMAX,
  MNEME_REDUX_MIN,
  MNEME_REDUX_MAX,
  MNEME_REDUX_AND,
  MNEME_REDUX_OR,
  MNEME_REDUX_XOR
};
/// Operations of the lanes of a wave that are at the same place in the program.
enum mneme_cpu_wave {
  MNEME_WAVE_SYNC = 0,
  MNEME_WAVE_BALLOT, ///< the lanes whose value is not 0
  MNEME_WAVE_FIRST,  ///< the value of the lowest lane
  /// The low 32 bits of lane `operand`'s value, with bit 32 set; 0 if that lane does not take part.
  MNEME_WAVE_READ,
  MNEME_WAVE_WRITE,  ///< the value of the highest lane whose `operand` is this one; 0 if none
  MNEME_WAVE_REDUCE, ///< `operand` is a mneme_cpu_warp_reduce
};
enum mneme_cpu_rounding {
  MNEME_ROUND_NEAREST = 0,
  MNEME_ROUND_ZERO,
  MNEME_ROUND_DOWN,
  MNEME_ROUND_UP
};

enum mneme_cpu_barrier { MNEME_BARRIER_ARRIVE = 0x100 };

/// What a place is at which threads of a block meet that run in rounds (MNEME_CPU_IMAGE_ROUNDS).
enum mneme_cpu_meeting_kind {
  MNEME_MEET_BLOCK = 0, ///< barrier 0 of the whole block
  MNEME_MEET_SYNC,      ///< those of a warp under a mask
  MNEME_MEET_SHUFFLE,
  MNEME_MEET_VOTE,
  MNEME_MEET_MATCH_ANY,
  MNEME_MEET_MATCH_ALL,
  MNEME_MEET_REDUCE,
  MNEME_MEET_ACTIVE_MASK, ///< those of a warp that are together
  MNEME_MEET_WAVE,
};
/// What a lane leaves where it waits and finds when it goes on: each is an array with an element
/// for every thread of the block, one array behind the other.
enum mneme_cpu_lane_field {
  MNEME_LANE_TURN = 0, ///< MNEME_ROUND_MIXED: 1 + the meeting behind which it goes on, or 0
  MNEME_LANE_NEXT,     ///< the meeting it came to; 0 if it has ended
  MNEME_LANE_MASK,
  MNEME_LANE_VALUE,
  MNEME_LANE_HIGH, ///< of a value of 64 bits
  MNEME_LANE_OPERAND,
  MNEME_LANE_CLAMP,
  MNEME_LANE_RESULT,
  MNEME_LANE_FLAG, ///< of a shuffle and of match.all; the high half of a wave operation's result
  MNEME_LANE_FIELDS
};
/// A place in the kernel; they are numbered from 1.
typedef struct mneme_cpu_meeting {
  uint32_t kind;
  uint32_t mode;  ///< mneme_cpu_shuffle, ..._vote, ..._warp_reduce, ..._wave
  uint32_t site;  ///< see `wave`
  uint32_t given; ///< bit f: field f is the same for all lanes and stands in `fixed`
  uint32_t fixed[MNEME_LANE_FIELDS];
} mneme_cpu_meeting;

/// Which lanes of a warp take a step: all of them, behind the meeting of this number (0: from the
/// kernel's beginning), or one of these.
enum mneme_cpu_round {
  MNEME_ROUND_MIXED = 0x7ffffffe, ///< each as MNEME_LANE_TURN tells
  MNEME_ROUND_WAITS = 0x7fffffff, ///< none: the block's turn
};

/// The functions that the runtime provides to device code. Functions with a context may switch to
/// another fiber.
typedef struct mneme_cpu_services {
  uint32_t abi;
  uint32_t reserved;
  // Block barrier `id` (0..15); `count` threads take part, 0 means the whole block. A thread that
  // has returned counts as arrived. With MNEME_BARRIER_ARRIVE in `id` the thread continues at once.
  void (*barrier)(mneme_cpu_context*, uint32_t id, uint32_t count);
  uint32_t (*barrier_reduce)(mneme_cpu_context*, uint32_t id, uint32_t op, uint32_t predicate);
  void (*warp_sync)(mneme_cpu_context*, uint32_t mask);
  // PTX shfl.sync: `operandB` and `clamp` are its b and c operands; *inRange receives its
  // predicate.
  uint32_t (*shuffle)(mneme_cpu_context*, uint32_t mask, uint32_t mode, uint32_t value,
                      uint32_t operandB, uint32_t clamp, uint32_t* inRange);
  uint32_t (*vote)(mneme_cpu_context*, uint32_t mask, uint32_t mode, uint32_t predicate);
  // match.any: mask of threads with an equal value. match.all: mask or 0, *allEqual set.
  uint32_t (*match_any)(mneme_cpu_context*, uint32_t mask, uint64_t value);
  uint32_t (*match_all)(mneme_cpu_context*, uint32_t mask, uint64_t value, uint32_t* allEqual);
  uint32_t (*warp_reduce)(mneme_cpu_context*, uint32_t mask, uint32_t op, uint32_t value);
  uint32_t (*active_mask)(mneme_cpu_context*);
  // Lets other fibers run; called in spin loops. Does nothing in loop images.
  void (*yield)(mneme_cpu_context*);
  // Ends the launch with an error; does not return.
  void (*trap)(mneme_cpu_context*);
  void (*assert_fail)(mneme_cpu_context*, const char* message, const char* file, uint32_t line,
                      const char* function);
  int32_t (*vprintf)(mneme_cpu_context*, const char* format, const void* packedArgs);
  void* (*device_malloc)(mneme_cpu_context*, uint64_t sizeBytes);
  void (*device_free)(mneme_cpu_context*, void* pointer);
  uint64_t (*clock)(void);        ///< cycles, %clock64
  uint64_t (*global_timer)(void); ///< nanoseconds, %globaltimer
  void (*nanosleep)(mneme_cpu_context*, uint32_t nanoseconds);
  uint32_t (*multiprocessor)(mneme_cpu_context*); ///< %smid
  // An operation (mneme_cpu_wave) of the lanes of a wave that reach it together. `site` is its
  // place in the program: among lanes that wait at different sites, those at the lowest continue
  // first.
  uint64_t (*wave)(mneme_cpu_context*, uint32_t site, uint32_t operation, uint64_t value,
                   uint32_t operand);
  // printf in pieces: the format first, then values of 64 bits and texts, in order. The last piece
  // prints all and returns printf's result; the others return the print.
  uint64_t (*print_begin)(mneme_cpu_context*, uint32_t toErrors);
  uint64_t (*print_values)(mneme_cpu_context*, uint64_t print, const uint64_t* values,
                           uint32_t count, uint32_t isLast);
  uint64_t (*print_text)(mneme_cpu_context*, uint64_t print, const char* text, uint64_t sizeBytes,
                         uint32_t isLast);
  // Called when a thread begins to wait in a loop that only another thread can end, or has done
  // something else since. A launch in which no thread calls this any more, and all yield, waits for
  // ever.
  void (*progress)(mneme_cpu_context*);
  // Reads a texture, reads or writes a surface (cpu_texture.h); `object` is the program's handle.
  // `coordinates`: x, y, z or layer, as floats or integers; for surfaces x is in bytes, except with
  // MNEME_SURFACE_ELEMENTS. `values`: four channels, or `bytes` bytes of a surface.
  void (*texture)(mneme_cpu_context*, uint64_t object, uint32_t operation,
                  const uint32_t* coordinates, uint32_t* values, uint32_t bytes);
  // For blocks in rounds: how a warp begins its part of a round (mneme_cpu_round),
  uint32_t (*lanes_start)(mneme_cpu_context*, uint32_t warp);
  // ... and goes on when those lanes whose turn it was have come to meetings, whose numbers are
  // or'ed in `any` and and'ed in `all`.
  uint32_t (*lanes_meet)(mneme_cpu_context*, uint32_t warp, uint32_t any, uint32_t all);
  // After the last warp: 0 if the block has ended, 1 if it passes its barrier, 2 if only some lanes
  // go on.
  uint32_t (*block_meets)(mneme_cpu_context*);
} mneme_cpu_services;

/// A device global the kernel refers to. The loader stores its address into `*slot` before the
/// first launch; `initializer` (sizeBytes, or null for zero) is its value in a fresh module.
typedef struct mneme_cpu_global {
  const char* name;
  uint64_t sizeBytes;
  uint64_t alignBytes;
  uint32_t isConstant;
  uint32_t isDefined; ///< 0: must be defined by another image or by the host program
  const void* initializer;
  void** slot;
} mneme_cpu_global;

/// An address of another global in an initializer: after all slots are set, the loader writes
/// *`target slot` + addend at `offset` inside the storage of global number `global`.
typedef struct mneme_cpu_relocation {
  uint32_t global;
  uint32_t target;
  uint64_t offset;
  int64_t addend;
} mneme_cpu_relocation;

enum mneme_cpu_image_flags {
  MNEME_CPU_IMAGE_LOOP = 1,    ///< run_block is set: threads are loops, and have no fibers
  MNEME_CPU_IMAGE_CONTEXT = 2, ///< set_context must be called before run_* on each switch
  MNEME_CPU_IMAGE_WARP64 = 4,  ///< warps have 64 lanes
  MNEME_CPU_IMAGE_WAITS = 8,   ///< has loops that only another thread can end, of any kind
  MNEME_CPU_IMAGE_ROUNDS = 16, ///< a loop image whose lanes meet, at `meetings`
};

typedef struct mneme_cpu_image_header {
  uint32_t abi; ///< MNEME_CPU_IMAGE_ABI
  uint32_t flags;
  const char* kernelName;
  uint64_t staticSharedBytes;
  uint64_t sharedAlignBytes;
  uint32_t argCount;
  uint32_t globalCount;
  uint32_t relocationCount;
  uint32_t localBytes; ///< stack frame of one logical thread, upper estimate, 0 if unknown
  const uint64_t* argSizes;
  const mneme_cpu_global* globals;
  const mneme_cpu_relocation* relocations;
  const mneme_cpu_services** services;    ///< the loader stores the table's address here
  void (*run_thread)(mneme_cpu_context*); ///< one logical thread, on a fiber; null in loop images
  void (*run_block)(mneme_cpu_context*);  ///< one block; null in fiber images
  /// Stores the context in the image's own thread-local variable, read by functions that were not
  /// inlined into the kernel. Null unless MNEME_CPU_IMAGE_CONTEXT.
  void (*set_context)(mneme_cpu_context*);
  uint64_t scratchBytes; ///< loop images: memory for each thread of a block, content undefined
  // Images with MNEME_CPU_IMAGE_ROUNDS:
  const mneme_cpu_meeting* meetings; ///< from number 1
  uint64_t laneOffset; ///< times the number of threads: where in `scratch` the lanes' fields are
} mneme_cpu_image_header;

#ifdef __cplusplus
}
#endif
