struct Out { @builtin(position) clip: vec4<f32>, @location(0) uv: vec2<f32>, @location(1) @interpolate(flat) layer: u32, }
@group(0) @binding(0) var colors: texture_2d<f32>;
@group(0) @binding(1) var filtering: sampler;
@group(0) @binding(2) var layers: texture_2d_array<f32>;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Out {
    var out: Out;
    let x = f32(i32(index & 1u) * 4 - 1);
    let y = f32(i32(index >> 1u) * 4 - 1);
    out.clip = vec4<f32>(x, y, 0.0, 1.0);
    out.uv = vec2<f32>(x, y) * 0.5 + 0.5;
    out.layer = index;
    return out;
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    let base = textureSample(colors, filtering, in.uv);
    let over = textureSampleLevel(layers, filtering, in.uv, i32(in.layer), 0.0);
    return mix(base, over, over.a);
}
