// Sums of differences of pairs of samples: blocks of 64 by 64 pairs, 16 features at a time in
// shared memory, 16 pairs in the registers of a thread.
//
// Sums are those of float64, feature after feature, the same every time.

// Macros that distances.py defines. SIDE: samples of a block on either side. ACROSS: threads of a
// block on either side. DIFFERENCE: 0 absolute, 1 squared, 2 one where they are not the same.
#define EACH (SIDE / ACROSS)
#define STEP ACROSS  // features at a time, one for each of the threads that read them

// out[i, l] += weight * sum over j of the difference of left[i, j] and right[l, j].
extern "C" __global__ void sum_differences(const double *left, const double *right, double *out,
                                           int m, int n, int p, double weight) {
    __shared__ double a[STEP][SIDE + 1], b[STEP][SIDE + 1];
    const int tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    const int top = blockIdx.y * SIDE, side = blockIdx.x * SIDE;
    double sum[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int l = 0; l < EACH; l++) sum[i][l] = 0.0;
    for (int first = 0; first < p; first += STEP) {
        const int j = first + tx;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < EACH; q++) {
            const int row = ty + q * ACROSS;
            const int i = top + row, l = side + row;
            a[tx][row] = j < p && i < m ? left[(size_t)i * p + j] : 0.0;
            b[tx][row] = j < p && l < n ? right[(size_t)l * p + j] : 0.0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STEP; k++) {  // beyond the last feature all differences are 0
            double x[EACH], z[EACH];
#pragma unroll
            for (int q = 0; q < EACH; q++) {
                x[q] = a[k][ty + q * ACROSS];
                z[q] = b[k][tx + q * ACROSS];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int l = 0; l < EACH; l++) {
#if DIFFERENCE == 0
                    sum[i][l] += fabs(x[i] - z[l]);
#elif DIFFERENCE == 1
                    sum[i][l] += (x[i] - z[l]) * (x[i] - z[l]);
#else
                    sum[i][l] += x[i] != z[l] ? 1.0 : 0.0;
#endif
                }
        }
    }
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        const int i = top + ty + q * ACROSS;
        if (i >= m) break;
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int l = side + tx + r * ACROSS;
            if (l < n) out[(size_t)i * n + l] += weight * sum[q][r];
        }
    }
}
