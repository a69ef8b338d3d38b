@group(0) @binding(0) var<storage, read_write> data: array<i32>;

@compute @workgroup_size(1)
fn main() {
    var sum: i32 = 0;
    for (var i: i32 = 0; i < 10; i++) {
        if i == 3 { continue; }
        var j = i;
        while j > 0 {
            sum += j;
            j -= 2;
            if sum > 100 { break; }
        }
    }
    var k = 0u;
    loop {
        let doubled = k * 2u;
        if doubled > 20u { break; }
        data[k] = sum;
        continuing {
            k += 1u;
            break if k > 12u;
        }
    }
    data[0] = sum;
}
