// What a kernel in CUDA C needs to be compiled by a C++ compiler and run on the CPU.
//
// The threads of a block take turns: each runs until it ends or waits for the others, and waits
// there until all have come. Blocks run one after the other.
#include <math.h>
#include <stddef.h>
#include <type_traits>
#include <ucontext.h>
#include <utility>

#define __global__
#define __device__
#define __shared__ static
#define __popcll __builtin_popcountll

struct Place {
    int x, y, z;
};
static Place threadIdx, blockIdx, blockDim, gridDim;

static const int MOST = 1024, STACK = 65536;
static ucontext_t caller, fibers[MOST];
static char stacks[MOST][STACK], ended[MOST];
static int current;
static void (*body)(void);

static void __syncthreads() { swapcontext(&fibers[current], &caller); }

static void begin() {
    body();
    ended[current] = 1;
}

template <class F>
static void run_block(int threads, F function) {
    static F *held;
    held = &function;
    body = [] { (*held)(); };
    for (int t = 0; t < threads; t++) {
        getcontext(&fibers[t]);
        fibers[t].uc_stack.ss_sp = stacks[t];
        fibers[t].uc_stack.ss_size = STACK;
        fibers[t].uc_link = &caller;
        makecontext(&fibers[t], begin, 0);
        ended[t] = 0;
    }
    for (volatile int left = threads; left;) {
        left = 0;
        for (current = 0; current < threads; current++)
            if (!ended[current]) {
                threadIdx = {current, 0, 0};
                swapcontext(&caller, &fibers[current]);
                left = left + !ended[current];
            }
    }
}

template <class F>
static void run_blocks(int gx, int gy, int threads, F function) {
    blockDim = {threads, 1, 1};
    gridDim = {gx, gy, 1};
    for (int y = 0; y < gy; y++)
        for (int x = 0; x < gx; x++) {
            blockIdx = {x, y, 0};
            run_block(threads, function);
        }
}

template <class... A, std::size_t... I>
static void launch(void (*kernel)(A...), void **args, int gx, int gy, int threads,
                   std::index_sequence<I...>) {
    run_blocks(gx, gy, threads, [&] { kernel(*(A *)args[I]...); });
}

template <class... A>
static void launch(void (*kernel)(A...), void **args, int gx, int gy, int threads) {
    launch(kernel, args, gx, gy, threads, std::index_sequence_for<A...>());
}

// Bytes of each argument; of an array, of one entry of it, negative.
template <class A>
static int size_of() {
    if constexpr (std::is_pointer<A>::value) return -(int)sizeof(std::remove_pointer_t<A>);
    else return (int)sizeof(A);
}

template <class... A>
static int sizes(void (*)(A...), int *out) {
    int n = 0;
    ((out[n++] = size_of<A>()), ...);
    return n;
}

#define EXPORT(name)                                                                               \
    extern "C" void launch_##name(void **args, int gx, int gy, int threads) {                      \
        launch(name, args, gx, gy, threads);                                                       \
    }                                                                                              \
    extern "C" int sizes_##name(int *out) { return sizes(name, out); }
