__device__ unsigned count;
__shared__ float tile[32];

__device__ float grown(float x, float by) {
    float y = x * by;
    return y + 1.0f;
}

extern "C" __global__ void scale(float *data, float by, unsigned n) {
    const int step = 1;
    unsigned i = threadIdx.x;
    if (i < n) {
        float was = data[i];
        float now = grown(was, by);
        tile[i] = now;
        data[i] = now + was;
        count += step;
    }
}
