// Nested sides, each with a value of its own.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32, 128>;

@compute @workgroup_size(32)
fn branches(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    if (i >= 60) {
        return;
    }
    let v = input[i];
    let thr = input[0] + 6;
    var r: i32;
    if (v > thr) {
        let a = v * 3;
        if ((a & 1) != 0) {
            let b = a - thr;
            if (b > 20) {
                r = output[b & 63] + 1;
            } else {
                r = b * b;
            }
        } else {
            let c = a + thr;
            r = output[c & 127] ^ c;
        }
    } else {
        let d = thr - v;
        if (d % 3 == 0) {
            r = output[d & 31] * d;
        } else if (d % 5 == 0) {
            r = d << 2u;
        } else {
            let e = output[(d + 1) & 15];
            r = e + d;
        }
    }
    output[64 + i] = r;
}
