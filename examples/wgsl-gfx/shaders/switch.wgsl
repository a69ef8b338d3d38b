// A `switch`, an early return, calls, a variable with an index.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn collatz(start: u32) -> u32 {
    var x = start;
    var steps = 0u;
    loop {
        if (x <= 1u) {
            return steps;
        }
        if (x % 2u == 0u) {
            x = x / 2u;
        } else {
            x = 3u * x + 1u;
        }
        steps++;
        if (steps > 40u) {
            break;
        }
    }
    return 1000u + steps;
}

fn pick(kind: u32, value: u32) -> u32 {
    var result: u32;
    switch kind {
        case 0u, 4u: {
            result = value;
        }
        case 1u: {
            return value * 7u;
        }
        case 2u: {
            let half = value / 2u;
            result = half + 3u;
        }
        default: {
            result = collatz(value);
        }
    }
    return result + 1u;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var table: array<u32, 8>;
    let count = arrayLength(&input);
    if (id.x >= count) {
        return;
    }
    let value = input[id.x];
    for (var i = 0u; i < 8u; i++) {
        table[i] = value + i;
    }
    let found = pick(id.x % 5u, table[value % 8u]);
    output[id.x] = found;
}
