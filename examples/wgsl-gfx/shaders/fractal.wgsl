// Small functions that are inlined, some in each other.
@group(0) @binding(0) var<storage, read_write> image: array<u32, 64>;
@group(0) @binding(1) var<storage, read> sizes: array<u32, 4>;

fn clamp_to(v: f32, lo: f32, hi: f32) -> f32 {
    let t = select(v, lo, v < lo);
    return select(t, hi, t > hi);
}

fn multiply(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let re = a.x * b.x - a.y * b.y;
    let im = a.x * b.y + a.y * b.x;
    return vec2<f32>(re, im);
}

fn mandel(c: vec2<f32>, most: i32) -> i32 {
    var z = vec2<f32>(0.0, 0.0);
    var it = 0;
    while (it < most) {
        let z2 = multiply(z, z);
        z = z2 + c;
        let m = z.x * z.x + z.y * z.y;
        if (m > 4.0) {
            break;
        }
        it++;
    }
    return it;
}

@compute @workgroup_size(8, 8)
fn fractal(@builtin(local_invocation_id) at: vec3<u32>) {
    let w = i32(sizes[0] & 7u) + 2;
    let h = i32(sizes[1] & 7u) + 2;
    let x = i32(at.x);
    let y = i32(at.y);
    if (x >= w || y >= h) {
        return;
    }
    var c: vec2<f32>;
    c.x = clamp_to((f32(x) - f32(w) * 0.5) * 0.5, -2.0, 2.0);
    c.y = clamp_to((f32(y) - f32(h) * 0.5) * 0.5, -2.0, 2.0);
    let most = i32(sizes[2] & 15u) + 1;
    let it = mandel(c, most);
    let shade = clamp_to(f32(it) / f32(most), 0.0, 1.0);
    let col = u32(shade * 255.0);
    image[at.y * 8u + at.x] = col | (col << 8u) | 0xff000000u;
}
