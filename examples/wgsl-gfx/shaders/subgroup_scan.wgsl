// Prefix sums by operations on subgroups: whole-wave code. The sum of a wave goes through local memory.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> totals: array<u32, 2>;

@compute @workgroup_size(64)
fn subgroup_scan(@builtin(local_invocation_index) tid: u32, @builtin(subgroup_invocation_id) lane: u32) {
    let value = input[tid];
    let before = subgroupExclusiveAdd(value);
    let upto = subgroupInclusiveAdd(value);
    let wave = tid / 32u;
    if (lane == 31u) {
        totals[wave] = upto;
    }
    workgroupBarrier();
    var sum = before;
    if (wave > 0u) {
        let first = totals[0];
        sum += first;
    }
    var largest = 0u;
    if ((lane & 1u) == 0u) {
        largest = subgroupMax(value);
    }
    output[tid] = sum + (largest << 16u);
}
