// A loop that lanes leave at different times, by `break` and by its condition, and that they continue early.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(32)
fn collatz(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= 50u) {
        return;
    }
    var x = input[i] + 1u;
    var count = 0u;
    var peak = x;
    for (var it = 0u; it < 24u; it++) {
        if (x == 1u) {
            break;
        }
        let half = x >> 1u;
        if ((x & 1u) != 0u) {
            let t = 3u * x + 1u;
            if (t < x) {
                count = 0xffffffffu;
                break;
            }
            x = t;
        } else {
            x = half;
        }
        if (x > peak) {
            peak = x;
        }
        if (peak > 100u) {
            continue;
        }
        count++;
    }
    steps[i] = count ^ peak;
}
