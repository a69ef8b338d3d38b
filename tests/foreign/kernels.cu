// Kernels for nvcc: a template, a call, shared memory, a loop.
template <class T>
__device__ __noinline__ T twice(T x) {
    T y = x + x;
    return y;
}

extern "C" __global__ void fill(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = twice(i * n);
}

extern "C" __global__ void reduce(const float *in, float *out, int n) {
    __shared__ float part[256];
    int lane = threadIdx.x;
    float sum = 0;
    for (int i = lane; i < n; i += blockDim.x)
        sum += in[i];
    part[lane] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (lane < width)
            part[lane] += part[lane + width];
        __syncthreads();
    }
    if (lane == 0)
        *out = twice(part[0]);
}
