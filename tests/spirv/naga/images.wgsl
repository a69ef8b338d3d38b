@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var result: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(source);
    if any(id.xy >= size) { return; }
    var sum = vec4<f32>();
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            let at = vec2<i32>(id.xy) + vec2<i32>(dx, dy);
            sum += textureLoad(source, clamp(at, vec2<i32>(0), vec2<i32>(size) - 1), 0);
        }
    }
    textureStore(result, id.xy, sum / 9.0);
}
