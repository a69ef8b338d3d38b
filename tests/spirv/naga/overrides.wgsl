const COUNT: u32 = 8u;
const SCALE = vec3<f32>(1.0, 2.0, 3.0);
@group(0) @binding(0) var<storage, read_write> data: array<vec3<f32>, COUNT>;

@compute @workgroup_size(COUNT)
fn main(@builtin(local_invocation_index) index: u32) {
    let scaled = data[index] * SCALE;
    let bent = sin(scaled) + cos(scaled.zyx);
    data[index] = clamp(bent, vec3<f32>(-1.0), vec3<f32>(1.0));
}
