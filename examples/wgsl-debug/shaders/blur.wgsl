struct Params {
    size: vec2<u32>,
    radius: i32,
    weights: array<vec4<f32>, 4>,
}

struct Pixel {
    colour: vec3<f32>,
    alpha: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<Pixel>;
@group(0) @binding(2) var<storage, read_write> target_pixels: array<Pixel>;

fn weight(distance: i32) -> f32 {
    let index = u32(abs(distance));
    if index >= 16u {
        return 0.0;
    }
    return params.weights[index / 4u][index % 4u];
}

fn accumulate(sum: ptr<function, vec3<f32>>, at: vec2<i32>, scale: f32) {
    let clamped = clamp(at, vec2<i32>(0), vec2<i32>(params.size) - 1);
    let pixel = source[u32(clamped.y) * params.size.x + u32(clamped.x)];
    *sum += pixel.colour * scale;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = vec3<f32>(0.0);
    var total = 0.0;
    for (var x = -params.radius; x <= params.radius; x++) {
        let scale = weight(x);
        if scale > 0.0 {
            let at = vec2<i32>(id.xy) + vec2<i32>(x, 0);
            accumulate(&sum, at, scale);
            total += scale;
        } else {
            continue;
        }
    }
    let mean = sum / max(total, 1e-6);
    let place = id.y * params.size.x + id.x;
    target_pixels[place] = Pixel(mean, 1.0);
}
