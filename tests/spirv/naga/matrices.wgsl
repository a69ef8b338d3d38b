struct Camera { view: mat4x4<f32>, normal: mat3x3<f32>, warp: mat2x3<f32>, eye: vec3<f32>, far: f32, }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> points: array<vec4<f32>>;

fn project(point: vec3<f32>) -> vec4<f32> {
    let turned = camera.normal * point;
    let moved = turned - camera.eye;
    return camera.view * vec4<f32>(moved, 1.0);
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
    var point = points[index];
    let clip = project(point.xyz);
    point = clip / clip.w;
    let uv = transpose(camera.warp) * point.xyz;
    points[index] = vec4<f32>(uv, point.z * camera.far, 1.0);
}
