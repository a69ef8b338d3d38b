// An `if`, an `else`, and a loop that lanes leave one by one.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(32)
fn diverge(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = input[0];
    var x = i32(id.x);
    let first = x;
    if (x < n) {
        x = -x;
        let twice = x * 2;
        x = twice + 1;
    } else {
        x = x << 1u;
    }
    var sum = 0;
    for (var i = 0; i < n; i++) {
        if (i == first) {
            break;
        }
        if ((i & 3) == (x & 3)) {
            continue;
        }
        sum = sum + i * x;
    }
    let old = sum;
    sum = sum + first;
    output[id.x] = sum + old;
}
