// Information that columns of bits share with others: pairs are counted, and measured before the
// counts leave the registers.
//
// One thread has one column, one block 128 of them (a panel) and a few pivots. The words of the
// pivots are in shared memory, read by all threads at once; those of the columns lie side by side,
// so that a block reads whole lines. Nothing but the result is written.
//
// Every sum is one of integers, so that the result is the same to the last bit as that of
// tamiz.information.counting, whatever the order. The tests compile this file with a C++ compiler,
// too, and run it thread by thread.

typedef unsigned long long word;

// Macros that counts.py defines. WIDTH: columns of a panel, threads of a block. FAINT: of
// independent columns, rounding of the table leaves less than 2^-FAINT of it. RESULT: type of the
// result.
#define CHUNK 16  // words of the pivots in shared memory at a time

// n_pivots, n_words, n_samples: sizes. ratio: symmetrical uncertainty in the place of information.
// mirror: write each value twice, the matrix is symmetric. upper: leave out the panels that lie
// before all pivots of a block. scale: factor of the result; stride: of its rows.
#define SIDES                                                                                      \
    const word *bits, const int *margins, const long long *sums, const int *places,                \
        const int *greatest, const word *pivots, const int *pivot_margins,                         \
        const long long *pivot_sums, const int *rows, const int *least, const long long *f,        \
        RESULT *out

#define SIZES                                                                                      \
    int n_pivots, int n_words, int n_samples, int ratio, int mirror, int upper, double scale,      \
        long long stride

static __device__ void write_value(RESULT *out, long long stride, int row, int place, int mirror,
                                   double value) {
    out[row * stride + place] = (RESULT)value;
    if (mirror) out[place * stride + row] = (RESULT)value;
}

// From the sum of f over the cells of a table, where every sample has a level in both columns.
static __device__ double complete_value(long long cells, long long own, long long sum,
                                        long long whole, int n_samples, int ratio) {
    double value = (double)(cells - sum + (whole - own));
    if (!(value >= (double)(whole >> FAINT))) value = 0.0;
    if (!ratio) return value * (1.0 / (double)n_samples);
    double entropy = (double)(whole - own) + (double)(whole - sum);
    return value > 0.0 ? 2.0 * value / entropy : 0.0;
}

#ifdef PIVOT_LEVELS
// Few levels on either side, complete: the counts are in registers, and the last row and column of
// a table follow from the margins. LEVELS: of the columns; PIVOTS: of a block; ENTRIES: of f, where
// all of them are kept in shared memory, else 0.
enum { A = PIVOT_LEVELS - 1, B = LEVELS - 1 };

extern "C" __global__ void few_levels(SIDES, SIZES) {
    __shared__ word held[CHUNK * PIVOTS * A];
#if ENTRIES > 0
    __shared__ long long table[ENTRIES];
#else
    const long long *table = f;
#endif
    const int panel = blockIdx.x, first = blockIdx.y * PIVOTS, t = threadIdx.x;
    if (upper && greatest[panel] < least[blockIdx.y]) return;
#if ENTRIES > 0
    for (int k = t; k <= n_samples; k += WIDTH) table[k] = f[k];
#endif
    unsigned counts[PIVOTS][A][B];
#pragma unroll
    for (int i = 0; i < PIVOTS; i++)
#pragma unroll
        for (int a = 0; a < A; a++)
#pragma unroll
            for (int b = 0; b < B; b++) counts[i][a][b] = 0;
    const word *column = bits + (size_t)panel * B * n_words * WIDTH + t;
    for (int start = 0; start < n_words; start += CHUNK) {
        const int some = n_words - start < CHUNK ? n_words - start : CHUNK;
        __syncthreads();
        for (int k = t; k < some * PIVOTS * A; k += WIDTH) {
            const int w = k % some, i = k / some / A, a = k / some % A;
            held[(w * PIVOTS + i) * A + a] =
                first + i < n_pivots
                    ? pivots[((size_t)(first + i) * (PIVOT_LEVELS + 1) + a) * n_words + start + w]
                    : 0;
        }
        __syncthreads();
#pragma unroll 4
        for (int w = 0; w < some; w++) {
            word own[B];
#pragma unroll
            for (int b = 0; b < B; b++) own[b] = column[((size_t)b * n_words + start + w) * WIDTH];
#pragma unroll
            for (int i = 0; i < PIVOTS; i++)
#pragma unroll
                for (int a = 0; a < A; a++) {
                    const word x = held[(w * PIVOTS + i) * A + a];
#pragma unroll
                    for (int b = 0; b < B; b++) counts[i][a][b] += __popcll(x & own[b]);
                }
        }
    }
    const int place = places[panel * WIDTH + t];
    if (place < 0) return;  // nobody is waited for any more
    const int *margin = margins + (size_t)panel * LEVELS * WIDTH + t;
    const long long sum = sums[panel * WIDTH + t], whole = f[n_samples];
#pragma unroll
    for (int i = 0; i < PIVOTS; i++) {
        if (first + i >= n_pivots) break;
        const int *m = pivot_margins + (size_t)(first + i) * PIVOT_LEVELS;
        long long cells = 0;
        int corner = m[A];
#pragma unroll
        for (int a = 0; a < A; a++) {
            int left = m[a];
#pragma unroll
            for (int b = 0; b < B; b++) {
                cells += table[counts[i][a][b]];
                left -= counts[i][a][b];
            }
            cells += table[left];
        }
#pragma unroll
        for (int b = 0; b < B; b++) {
            int left = margin[b * WIDTH];
#pragma unroll
            for (int a = 0; a < A; a++) left -= counts[i][a][b];
            cells += table[left];
            corner -= left;
        }
        cells += table[corner];
        const double value =
            complete_value(cells, pivot_sums[first + i], sum, whole, n_samples, ratio);
        write_value(out, stride, rows[first + i], place, mirror, value * scale);
    }
}
#else
static __device__ int shared_bits(const word *x, const word *column, int n_words) {
    int n = 0;
    for (int w = 0; w < n_words; w++) n += __popcll(x[w] & column[(size_t)w * WIDTH]);
    return n;
}

// Any number of levels, and samples may lack one: cell by cell. Of a column that has a level in
// every sample the last one is not kept: kept == c - 1. Behind the levels of a pivot stand the
// samples that have one.
extern "C" __global__ void any_levels(SIDES, SIZES, int r, int c, int kept, int complete) {
    const int panel = blockIdx.x, i = blockIdx.y, t = threadIdx.x;
    if (upper && greatest[panel] < least[i]) return;
    const int place = places[panel * WIDTH + t];
    if (place < 0) return;
    const word *column = bits + (size_t)panel * kept * n_words * WIDTH + t;
    const word *pivot = pivots + (size_t)i * (r + 1) * n_words;
    const int *m = pivot_margins + (size_t)i * r;
    const size_t level = (size_t)n_words * WIDTH;
    long long cells = 0, own = 0, other = 0;
    int both = 0;
    for (int a = 0; a < r; a++) {
        int row = 0;
        for (int b = 0; b < kept; b++) {
            const int n = shared_bits(pivot + (size_t)a * n_words, column + b * level, n_words);
            cells += f[n];
            row += n;
        }
        if (kept < c) {
            cells += f[m[a] - row];
            row = m[a];
        }
        own += f[row];
        both += row;
    }
    double value;
    if (complete) {
        value = complete_value(cells, own, sums[panel * WIDTH + t], f[n_samples], n_samples, ratio);
    } else {
        int left = both;
        for (int b = 0; b < kept; b++) {
            const int n = shared_bits(pivot + (size_t)r * n_words, column + b * level, n_words);
            other += f[n];
            left -= n;
        }
        if (kept < c) other += f[left];
        const long long whole = f[both];
        const double information = (double)(whole + cells - own - other);
        const double faint = (double)(whole >> FAINT);
        if (both == 0 || information < faint) {
            value = 0.0;
        } else if (ratio) {
            const double entropy = (double)(whole - own) + (double)(whole - other);
            const double fraction = (double)both / (double)n_samples;
            value = entropy > faint ? 2.0 * information / entropy * fraction : 0.0;
        } else {
            value = information * (1.0 / (double)n_samples);
        }
    }
    write_value(out, stride, rows[i], place, mirror, value * scale);
}
#endif
