// Functions that are called: nested calls, under divergence, with values that are needed behind.
@group(0) @binding(0) var<storage, read> input: array<i32>;
@group(0) @binding(1) var<storage, read_write> output: array<i32>;

fn steps(start: i32, most: i32) -> i32 {
    var n = start;
    var count = 0;
    while (n > 1 && count < most) {
        if ((n & 1) == 0) {
            n = n / 2;
        } else {
            n = 3 * n + 1;
        }
        count++;
    }
    return count;
}

fn both(a: i32, b: i32) -> vec2<i32> {
    let product = a * b;
    if (a > b) {
        let first = steps(a, 2);
        return vec2<i32>(first + product, b);
    }
    let second = steps(b, 2);
    let third = steps(a + 1, second);
    return vec2<i32>(product - third, second);
}

@compute @workgroup_size(32)
fn nested(@builtin(global_invocation_id) id: vec3<u32>) {
    let lane = i32(id.x & 31u);
    let limit = input[1];
    let a = input[lane];
    var sum = a * 3;
    if ((lane & 1) == 0) {
        let pair = both(a, lane);
        sum += pair.x * 5 + pair.y;
    } else if (lane > limit) {
        sum -= steps(sum, limit & 1);
    }
    for (var k = 0; k < (lane & 1) + 1; k++) {
        let more = both(sum & 7, k + (limit & 3));
        sum += more.y - more.x;
    }
    output[id.x] = sum + a + limit;
}
