__device__ __noinline__ int used(int x) { return x * 5; }
