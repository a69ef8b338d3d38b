// The sum of a group, in local memory.
struct Parameters {
    count: u32,
    scale: f32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;

var<workgroup> partial: array<f32, 64>;

@compute @workgroup_size(64)
fn reduce(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let at = group.x * 64u + lane;
    var value = 0.0;
    if (at < parameters.count) {
        value = values[at] * parameters.scale;
    }
    partial[lane] = value;
    workgroupBarrier();
    for (var distance = 32u; distance > 0u; distance = distance / 2u) {
        if (lane < distance) {
            let other = partial[lane + distance];
            value = value + other;
            partial[lane] = value;
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        sums[group.x] = value;
    }
}
