#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) buffer Keys { uint keys[]; };
layout(push_constant) uniform Limits { uint count; ivec2 window[2]; };

shared uint held[64];

bool before(uint a, uint b, out uint low) {
    low = min(a, b);
    return a < b;
}

void main() {
    uint at = gl_GlobalInvocationID.x;
    uint lane = gl_LocalInvocationID.x;
    held[lane] = at < count ? keys[at] : 0xffffffffu;
    barrier();
    for (uint size = 2u; size <= 64u; size <<= 1) {
        for (uint step = size >> 1; step > 0u; step >>= 1) {
            uint other = lane ^ step, low;
            bool up = (lane & size) == 0u;
            if (other > lane && before(held[other], held[lane], low) == up) {
                uint key = held[lane];
                held[lane] = held[other];
                held[other] = key;
            }
            barrier();
        }
    }
    switch (window[0].x) {
    case 0:
        return;
    case 1: {
        uint doubled = held[lane] * 2u;
        keys[at] = doubled;
        break;
    }
    default:
        keys[at] = held[lane];
    }
}
