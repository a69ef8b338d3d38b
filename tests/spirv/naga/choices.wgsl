@group(0) @binding(0) var<storage, read_write> values: array<u32>;

fn kind(value: u32) -> u32 {
    switch value % 5u {
        case 0u: { return 10u; }
        case 1u, 2u: {
            let twice = value * 2u;
            return twice;
        }
        default: {
            var rest = value;
            rest >>= 1u;
            return rest;
        }
    }
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let before = values[id.x];
    values[id.x] = select(kind(before), before, before > 1000u);
}
