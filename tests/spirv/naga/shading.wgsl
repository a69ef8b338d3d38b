struct Light { direction: vec3<f32>, power: f32, color: vec3<f32>, }
struct Lights { count: u32, all: array<Light, 4>, }
@group(0) @binding(0) var<uniform> lights: Lights;

@fragment
fn main(@location(0) normal: vec3<f32>, @location(1) albedo: vec4<f32>) -> @location(0) vec4<f32> {
    let n = normalize(normal);
    var lit = vec3<f32>(0.03);
    for (var i = 0u; i < lights.count; i++) {
        let light = lights.all[i];
        let facing = max(dot(n, -light.direction), 0.0);
        lit += light.color * (facing * light.power);
    }
    if albedo.a < 0.5 { discard; }
    return vec4<f32>(lit * albedo.rgb, albedo.a);
}
