// Calls with more values alive than there are registers, in the kernel and in what it calls.
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

fn blend(x: f32, y: f32, z: f32) -> f32 {
    var total = x * 0.5 + y * 0.25;
    for (var k = 0; k < 3; k++) {
        if (total > z) {
            total = total - z;
        } else {
            total = total + f32(k);
        }
    }
    return total;
}

fn mix4(v: vec4<f32>, bias: f32) -> vec4<f32> {
    var part: array<f32, 4>;
    let low = min(v.x, v.y);
    let high = max(v.z, v.w);
    for (var n = 0u; n < 4u; n++) {
        part[n] = blend(v.x + f32(n), bias, low);
    }
    let one = blend(low, high, bias);
    let two = blend(one, v.w, part[1]);
    if (one > two) {
        return vec4<f32>(one, part[0], low, bias);
    }
    return vec4<f32>(two, high, part[2], part[3] + one);
}

@compute @workgroup_size(32)
fn frames(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x & 31u;
    let s0 = input[0]; let s1 = input[1]; let s2 = input[2]; let s3 = input[3];
    let s4 = input[4]; let s5 = input[5]; let s6 = input[6]; let s7 = input[7];
    let n = u32(abs(input[8])); let m = u32(abs(input[9]));
    let a = input[i]; let b = a * s0; let c = b + s1; let d = c - s2;
    let v = vec4<f32>(a, b, c, d);
    var best = mix4(v, s3);
    if (a > 0.0) {
        let other = mix4(v.wzyx, s4 + a);
        best = best + other * s5;
        if (b < c) {
            best.x = best.x + blend(a, s6, best.y);
        }
    }
    output[id.x] = best.x + best.y * s7 + best.z + best.w + a + b + c + d + f32(n + m * 2u);
}
