// Counters in local memory that lanes increment at once, then global ones.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 16>;
var<workgroup> counts: array<atomic<u32>, 16>;

@compute @workgroup_size(32)
fn histogram(@builtin(local_invocation_index) tid: u32, @builtin(workgroup_id) group: vec3<u32>) {
    if (tid < 16u) {
        atomicStore(&counts[tid], 0u);
    }
    workgroupBarrier();
    for (var n = 0u; n < 4u; n++) {
        let value = input[(tid + n * 32u + group.x) & 63u];
        let bin = value & 15u;
        if (value > 2u) {
            let seen = atomicAdd(&counts[bin], 1u);
            if (seen > 2u) {
                break;
            }
        }
    }
    workgroupBarrier();
    if (tid < 16u) {
        let sum = atomicLoad(&counts[tid]);
        let old = atomicAdd(&bins[tid], sum);
        let peak = atomicMax(&bins[15u - tid], old);
    }
}
