// A product of matrices by tiles in local memory; each item has four sums in private memory.
@group(0) @binding(0) var<storage, read> a: array<f32, 64>;
@group(0) @binding(1) var<storage, read> b: array<f32, 64>;
@group(0) @binding(2) var<storage, read_write> c: array<f32, 256>;
var<workgroup> tile_a: array<f32, 64>;
var<workgroup> tile_b: array<f32, 64>;

@compute @workgroup_size(8, 8)
fn matmul(@builtin(local_invocation_id) at: vec3<u32>) {
    let row = at.x;
    let col = at.y;
    var acc: array<f32, 4>;
    for (var w = 0u; w < 4u; w++) {
        acc[w] = 0.0;
    }
    for (var t = 0u; t < 2u; t++) {
        tile_a[col * 8u + row] = a[(col * 8u + row + t) & 63u];
        tile_b[col * 8u + row] = b[(col + row * 8u + t) & 63u];
        workgroupBarrier();
        for (var k = 0u; k < 8u; k++) {
            let x = tile_a[k * 8u + row];
            for (var w = 0u; w < 4u; w++) {
                let y = tile_b[((col + w) & 7u) * 8u + k];
                acc[w] += x * y;
            }
        }
        workgroupBarrier();
    }
    for (var w = 0u; w < 4u; w++) {
        c[(col * 4u + w) * 8u + row] = acc[w];
    }
}
