@group(0) @binding(0) var<storage, read_write> values: array<u32>;
var<workgroup> shared_sums: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    shared_sums[lane] = values[id.x];
    workgroupBarrier();
    for (var offset = 1u; offset < 64u; offset <<= 1u) {
        var sum = shared_sums[lane];
        if lane >= offset { sum += shared_sums[lane - offset]; }
        workgroupBarrier();
        shared_sums[lane] = sum;
        workgroupBarrier();
    }
    values[id.x] = shared_sums[lane];
}
