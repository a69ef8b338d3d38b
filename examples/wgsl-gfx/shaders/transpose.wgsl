// A matrix turned by way of local memory, two elements for each item.
@group(0) @binding(0) var<storage, read> input: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> output: array<u32, 128>;
var<workgroup> tile: array<u32, 136>;

@compute @workgroup_size(8, 8)
fn transpose(@builtin(local_invocation_id) at: vec3<u32>) {
    for (var n = 0u; n < 2u; n++) {
        let row = at.y + 8u * n;
        tile[row * 8u + at.x] = input[row * 8u + at.x];
    }
    workgroupBarrier();
    for (var n = 0u; n < 2u; n++) {
        let column = at.y + 8u * n;
        let value = tile[column * 8u + at.x];
        output[at.x * 16u + column] = value;
    }
}
