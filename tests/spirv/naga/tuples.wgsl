struct Found { index: u32, distance: f32, }
@group(0) @binding(0) var<storage, read> points: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> nearest: array<Found>;

fn closest(to: vec2<f32>, skip: u32) -> Found {
    var best = Found(0u, 1e30);
    let count = arrayLength(&points);
    for (var i = 0u; i < count; i += 1u) {
        if i == skip { continue; }
        let apart = distance(to, points[i]);
        if apart < best.distance { best = Found(i, apart); }
    }
    return best;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let here = points[id.x];
    nearest[id.x] = closest(here, id.x);
}
