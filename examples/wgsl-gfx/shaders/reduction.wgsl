// Sums of a group in local memory, one half at a time.
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
var<workgroup> sums: array<f32, 128>;

@compute @workgroup_size(128)
fn reduction(
    @builtin(local_invocation_index) tid: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    var acc = 0.0;
    let stride = 16u;
    for (var i = id.x & 15u; i < arrayLength(&input); i += stride) {
        let v = input[i];
        acc += v;
    }
    sums[tid] = acc;
    workgroupBarrier();
    for (var s = 64u; s > 0u; s >>= 1u) {
        if (tid < s) {
            let other = sums[tid + s];
            sums[tid] += other;
        }
        workgroupBarrier();
    }
    if (tid == 0u) {
        output[group.x] = sums[0];
    }
}
