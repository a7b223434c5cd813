// Room abi: the contract between a compiled CPU image (made by runtime/compile) and the CPU
// device that runs it (runtime/device/cpu). C layout, no includes of ours.
//
// An image is an ELF shared object for one kernel. It exports exactly one data symbol,
// `mneme_cpu_image`. It has no undefined symbols but those of libm, libc (memcpy, memset...)
// and libgcc; everything else it needs goes through `*services`.
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
  char* shared;  ///< the block's shared memory: static part first, dynamic part behind it
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
/// What lanes of a wave do together that are at the same place of the program.
enum mneme_cpu_wave {
  MNEME_WAVE_SYNC = 0,
  MNEME_WAVE_BALLOT, ///< the lanes whose value is not 0
  MNEME_WAVE_FIRST,  ///< the value of the lowest lane
  /// The low 32 bits of lane `operand`'s value, with bit 32 set; 0 if that lane takes no part.
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

/// What the runtime offers to device code. Functions with a context may switch to another fiber.
typedef struct mneme_cpu_services {
  uint32_t abi;
  uint32_t reserved;
  // Block barrier `id` (0..15); `count` threads take part, 0 means the whole block. A thread that
  // has returned counts as arrived. With MNEME_BARRIER_ARRIVE in `id` the thread goes on at once.
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
  // An operation (mneme_cpu_wave) of the lanes of a wave that are together at it. `site` says where
  // in the program: of lanes that wait at different ones, those at the lowest go on first.
  uint64_t (*wave)(mneme_cpu_context*, uint32_t site, uint32_t operation, uint64_t value,
                   uint32_t operand);
  // printf in pieces: the format first, then values of 64 bits and texts, in order. The last piece
  // prints all, and its result is printf's; the others return the print.
  uint64_t (*print_begin)(mneme_cpu_context*, uint32_t toErrors);
  uint64_t (*print_values)(mneme_cpu_context*, uint64_t print, const uint64_t* values,
                           uint32_t count, uint32_t isLast);
  uint64_t (*print_text)(mneme_cpu_context*, uint64_t print, const char* text, uint64_t sizeBytes,
                         uint32_t isLast);
  // A thread begins to wait in a loop that only another thread can end, or has done something else
  // since: a launch in which no thread calls this any more, and all yield, waits for ever.
  void (*progress)(mneme_cpu_context*);
  // Reads a texture, reads or writes a surface (cpu_texture.h): `object` is what the program was
  // given. `coordinates`: x, y, z or layer, as floats or numbers; of surfaces x is in bytes
  // but for MNEME_SURFACE_ELEMENTS.
  // `values`: four channels, or `bytes` bytes of a surface.
  void (*texture)(mneme_cpu_context*, uint64_t object, uint32_t operation,
                  const uint32_t* coordinates, uint32_t* values, uint32_t bytes);
} mneme_cpu_services;

/// A device global the kernel refers to. The loader stores its address into `*slot` before the
/// first launch; `initializer` (sizeBytes, or null for zero) is what a fresh module holds.
typedef struct mneme_cpu_global {
  const char* name;
  uint64_t sizeBytes;
  uint64_t alignBytes;
  uint32_t isConstant;
  uint32_t isDefined; ///< 0: must be defined by another image or by the host program
  const void* initializer;
  void** slot;
} mneme_cpu_global;

/// Where one initializer holds the address of another global: after all slots are set, the loader
/// writes *`target slot` + addend at `offset` inside the storage of global number `global`.
typedef struct mneme_cpu_relocation {
  uint32_t global;
  uint32_t target;
  uint64_t offset;
  int64_t addend;
} mneme_cpu_relocation;

enum mneme_cpu_image_flags {
  MNEME_CPU_IMAGE_LOOP = 1,    ///< run_block is set: threads meet at barriers of the block at most
  MNEME_CPU_IMAGE_CONTEXT = 2, ///< set_context must be called before run_* on each switch
  MNEME_CPU_IMAGE_WARP64 = 4,  ///< warps have 64 lanes
  MNEME_CPU_IMAGE_WAITS = 8,   ///< has loops that only another thread can end, of any kind
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
} mneme_cpu_image_header;

#ifdef __cplusplus
}
#endif
