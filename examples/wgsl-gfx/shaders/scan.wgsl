// Inclusive prefix sums of a group, in local memory (Hillis and Steele).
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;
var<workgroup> sums: array<i32, 64>;

@compute @workgroup_size(64)
fn scan(@builtin(local_invocation_index) tid: u32, @builtin(global_invocation_id) id: vec3<u32>) {
    var value = input[id.x & 63u];
    sums[tid] = value;
    workgroupBarrier();
    for (var offset = 1u; offset < 64u; offset <<= 1u) {
        var before = 0;
        if (tid >= offset) {
            before = sums[tid - offset];
        }
        workgroupBarrier();
        value += before;
        sums[tid] = value;
        workgroupBarrier();
    }
    output[id.x & 63u] = value;
}
