@group(0) @binding(0) var<storage, read_write> words: array<u32>;

fn mixed(seed: u32) -> u32 {
    var state = seed;
    state ^= state << 13u;
    state ^= state >> 17u;
    state ^= state << 5u;
    return state;
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = mixed(words[id.x] | 1u);
    let ones = countOneBits(word);
    let low = extractBits(word, 4u, 8u);
    let packed = pack4x8unorm(vec4<f32>(f32(low) / 255.0));
    words[id.x] = insertBits(packed, ones, 0u, 6u) + reverseBits(word);
}
