// Functions that call functions, with loops and early returns in them.
@group(0) @binding(0) var<storage, read> p: array<f32>;
@group(0) @binding(1) var<storage, read_write> q: array<f32>;

fn leaf(x: f32, k: i32) -> f32 {
    var s = x;
    for (var j = 0; j < k; j++) {
        s = s * 1.5 + f32(j);
        if (s > 100.0) {
            return s - 100.0;
        }
    }
    return s;
}

fn mid(i: u32, k: i32) -> f32 {
    let a = p[i];
    let b = leaf(a, k);
    let c = leaf(b + a, k + 1);
    return a + b * c;
}

@compute @workgroup_size(32)
fn calls(@builtin(global_invocation_id) id: vec3<u32>) {
    let gid = id.x;
    let base = q[gid];
    if (gid < 45u) {
        let m = mid(gid, i32(gid & 3u));
        let z = leaf(m, 2);
        q[gid] = m + z + base;
    }
}
