// Early returns from loops and switches, in functions and in the kernel.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

fn first_above(start: i32, least: i32) -> i32 {
    for (var i = start; i < start + 6; i++) {
        let v = input[i & 63];
        if (v > least) {
            return i;
        }
    }
    return -1;
}

fn kind(v: i32) -> i32 {
    switch (v & 3) {
        case 0: { return 10; }
        case 1: {
            if (v > 8) { return 20; }
        }
        default: {}
    }
    return v;
}

@compute @workgroup_size(32)
fn exits(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x) & 63;
    let found = first_above(i, 11);
    if (found < 0) {
        output[i] = found;
        return;
    }
    let k = kind(input[found & 63]);
    if (k == 10) {
        return;
    }
    output[i] = k + found;
}
