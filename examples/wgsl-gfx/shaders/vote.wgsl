// Operations on the active lanes, in both sides of an `if` and in a loop that lanes leave.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(32)
fn vote(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x) & 63;
    let v = input[i];
    var r = 0;
    if (v > 9) {
        let sum = subgroupAdd(v);
        r = sum - v;
    } else {
        let least = subgroupMin(v);
        r = v - least;
    }
    for (var n = 0; n < (v & 3); n++) {
        let here = subgroupAdd(1);
        r += here;
    }
    output[i] = r;
}
