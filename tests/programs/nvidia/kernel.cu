__device__ __noinline__ float bar(float x, int n) { for (int i = 0; i < n; i++) x = x * 1.5f + i; return x; }
__device__ inline float foo(float x) { float y = x * 2.0f; return y + 1.0f; }
extern "C" __global__ void k(float *out, const float *in, int n) {
  __shared__ float tile[64];
  float local[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < 8; j++) local[j] = in[i + j];
  tile[threadIdx.x & 63] = local[n & 7];
  __syncthreads();
  double d = tile[(threadIdx.x + 1) & 63];
  out[i] = bar(foo((float)d), n) + local[(n + 1) & 7];
}
