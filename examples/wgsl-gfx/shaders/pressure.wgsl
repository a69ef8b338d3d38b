// More values alive than there are registers: scalars are spilled to lanes, and rows to scratch memory.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(32)
fn pressure(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x) & 63;
    let s0 = input[0]; let s1 = input[1]; let s2 = input[2]; let s3 = input[3];
    let s4 = input[4]; let s5 = input[5]; let s6 = input[6]; let s7 = input[7];
    let s8 = input[8]; let s9 = input[9];
    let a = input[i]; let b = a * s0; let c = b + s1; let d = c ^ s2; let e = d - s3;
    let f = e * a; let g = f + b; let h = g ^ c; let k = h - d; let l = k + e;
    var sum = 0;
    if (a > 8) {
        sum = a + b + c + d + e;
        if (sum > 100) {
            sum -= s4 + s5;
        }
    } else {
        sum = f + g + h + k + l;
        for (var n = 0; n < (i & 3); n++) {
            sum += s6 * n;
        }
    }
    sum += s7 * a + s8 * b + s9 * c + d + e + f + g + h + k + l;
    output[i] = sum + s0 + s1 + s2 + s3 + s4 + s5 + s6;
}
