struct Camera {
    view_projection: mat4x4<f32>,
    position: vec3<f32>,
}

struct Light {
    direction: vec3<f32>,
    strength: f32,
    colour: vec3<f32>,
}

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
}

struct Fragment {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> lights: array<Light, 4>;
@group(1) @binding(0) var albedo: texture_2d<f32>;
@group(1) @binding(1) var albedo_sampler: sampler;

const AMBIENT: f32 = 0.05;

@vertex
fn vertex(input: Vertex) -> Fragment {
    var output: Fragment;
    output.clip = camera.view_projection * vec4<f32>(input.position, 1.0);
    output.world = input.position;
    output.normal = normalize(input.normal);
    output.uv = input.uv;
    return output;
}

fn diffuse(light: Light, normal: vec3<f32>) -> vec3<f32> {
    let facing = max(dot(normal, -light.direction), 0.0);
    return light.colour * facing * light.strength;
}

@fragment
fn fragment(input: Fragment) -> @location(0) vec4<f32> {
    let base = textureSample(albedo, albedo_sampler, input.uv);
    if base.a < 0.5 {
        discard;
    }
    var lit = base.rgb * AMBIENT;
    for (var i = 0u; i < 4u; i++) {
        let light = lights[i];
        switch i {
            case 0u: {
                let key = diffuse(light, input.normal);
                lit += base.rgb * key;
            }
            case 1u, 2u: {
                let fill = diffuse(light, input.normal) * 0.5;
                lit += base.rgb * fill;
            }
            default: {
                lit += light.colour * 0.01;
            }
        }
    }
    return vec4<f32>(lit, base.a);
}
