struct Particle { float3 position; float mass; uint2 cell; };
RWStructuredBuffer<Particle> particles : register(u0);
RWStructuredBuffer<float> sums : register(u1);
cbuffer Params : register(b0) { uint count; float scale; };
groupshared float shared_sum[64];
float weight(Particle p, float factor) {
    float w = p.mass * factor;
    if (w > 10.0) { float over = w - 10.0; w = 10.0 + over * 0.5; }
    return w;
}
float reduce(uint lane) {
    for (uint step = 32; step > 0; step >>= 1) {
        if (lane < step) { float other = shared_sum[lane + step]; shared_sum[lane] += other; }
        GroupMemoryBarrierWithGroupSync();
    }
    return shared_sum[0];
}
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    uint index = id.x;
    float total = 0;
    float2x2 turn = float2x2(1, 2, 3, 4);
    float values[4];
    for (int i = 0; i < 4; i++) { values[i] = i * scale; total += values[i]; }
    if (index < count) {
        Particle p = particles[index];
        p.position.xy = mul(turn, p.position.xy);
        total += weight(p, scale);
        particles[index] = p;
    }
    shared_sum[lane] = total;
    GroupMemoryBarrierWithGroupSync();
    float all = reduce(lane);
    if (lane == 0) sums[group.x] = all;
}
