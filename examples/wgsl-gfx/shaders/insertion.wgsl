// Insertion sort of each lane's private array: loops whose length depends on the data.
@group(0) @binding(0) var<storage, read_write> data: array<i32, 256>;

@compute @workgroup_size(32)
fn insertion(@builtin(local_invocation_index) lane: u32) {
    var keys: array<i32, 8>;
    for (var n = 0u; n < 8u; n++) {
        keys[n] = data[lane * 8u + n];
    }
    for (var n = 1; n < 8; n++) {
        let key = keys[n];
        var at = n - 1;
        while (at >= 0) {
            let before = keys[at];
            if (before <= key) {
                break;
            }
            keys[at + 1] = before;
            at -= 1;
        }
        keys[at + 1] = key;
    }
    for (var n = 0u; n < 8u; n++) {
        data[lane * 8u + n] = keys[n];
    }
}
