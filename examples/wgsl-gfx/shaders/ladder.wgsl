// Else-ifs, each with a variable of the same name, and a value that all of them merge.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(32)
fn ladder(@builtin(global_invocation_id) id: vec3<u32>) {
    let v = input[id.x & 63u];
    var merged = 0;
    if (v < 4) {
        let t = v + 1;
        merged = t * t;
    } else if (v < 8) {
        let t = v - 1;
        merged = t * 3;
    } else if (v < 12) {
        let t = v << 1u;
        merged = t - 5;
    } else if (v < 16) {
        let t = v ^ 9;
        merged = t;
    }
    let behind = merged + v;
    output[id.x & 63u] = behind;
}
