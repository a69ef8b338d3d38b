@group(0) @binding(0) var<storage, read_write> bins: array<atomic<u32>, 16>;
var<workgroup> local_bins: array<atomic<u32>, 16>;
@group(0) @binding(1) var<storage, read> values: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let value = values[id.x];
    let bin = value & 15u;
    atomicAdd(&local_bins[bin], 1u);
    workgroupBarrier();
    if lane < 16u {
        let count = atomicLoad(&local_bins[lane]);
        let before = atomicAdd(&bins[lane], count);
        atomicMax(&bins[lane], before);
    }
}
