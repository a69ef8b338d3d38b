struct Counts { x: u32, y: u32, z: u32, }
@group(0) @binding(0) var<storage, read_write> counts: Counts;
@group(0) @binding(1) var<storage, read_write> list: array<vec2<u32>>;

@compute @workgroup_size(1)
fn plan(@builtin(num_workgroups) groups: vec3<u32>) {
    let total = groups.x * groups.y * groups.z;
    counts = Counts((total + 63u) / 64u, 1u, 1u);
}

@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let at = vec2<u32>(id.x, group.x);
    list[id.x] = at.yx;
}
