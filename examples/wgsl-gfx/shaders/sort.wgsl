// Bitonic sort of a group in local memory.
@group(0) @binding(0) var<storage, read_write> data: array<u32, 64>;
var<workgroup> keys: array<u32, 64>;

@compute @workgroup_size(64)
fn sort(@builtin(local_invocation_index) tid: u32) {
    keys[tid] = data[tid] * 7919u % 1000u;
    workgroupBarrier();
    for (var size = 2u; size <= 64u; size <<= 1u) {
        for (var step = size >> 1u; step > 0u; step >>= 1u) {
            let other = tid ^ step;
            if (other > tid) {
                let up = (tid & size) == 0u;
                let mine = keys[tid];
                let theirs = keys[other];
                if ((mine > theirs) == up) {
                    keys[tid] = theirs;
                    keys[other] = mine;
                }
            }
            workgroupBarrier();
        }
    }
    data[tid] = keys[tid];
}
