__device__ __forceinline__ int second(int x) { return x * 5 + 2; }
__global__ void b(int *p) { *p = second(*p); }
