// Loops in loops: uniform around divergent, divergent around uniform, with exits of both.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

@compute @workgroup_size(32)
fn loops(@builtin(global_invocation_id) id: vec3<u32>) {
    let lane = i32(id.x) & 31;
    let n = input[0] & 3;
    var sum = 0;
    for (var i = 0; i <= n; i++) {
        for (var j = 0; j < (lane & 3); j++) {
            if (sum > 60) {
                break;
            }
            for (var k = 0; k < 2; k++) {
                sum += i * j + k;
                if (k == (lane & 1)) {
                    continue;
                }
                sum += 1;
            }
        }
        if (sum > 90) {
            output[id.x & 63u] = -1;
            return;
        }
    }
    loop {
        sum -= 7;
        if (sum < 0) {
            break;
        }
        continuing {
            sum -= lane & 1;
            break if sum < 3;
        }
    }
    output[id.x & 63u] = sum;
}
