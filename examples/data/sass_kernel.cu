// A polynomial for each element of a row, and the sum of the results.
extern "C" __global__ void __launch_bounds__(1024, 2) norms(float *out, const float *in, int n, int pitch) {
  const float *row = in + (long long)blockIdx.x * pitch;
  float a[24];
#pragma unroll
  for (int k = 0; k < 24; ++k) a[k] = row[k * 7];
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = row[i];
#pragma unroll
    for (int k = 0; k < 24; ++k) sum = fmaf(sum, v, a[k]);
  }
  for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(~0u, sum, s);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
