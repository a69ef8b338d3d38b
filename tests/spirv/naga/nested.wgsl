struct Inner { a: vec2<f32>, b: f32, }
struct Middle { inner: array<Inner, 2>, flag: u32, }
struct Outer { middle: Middle, matrix: mat2x2<f32>, }
@group(0) @binding(0) var<storage, read_write> outer: Outer;
@group(1) @binding(3) var<uniform> inner: Inner;

fn sum(value: Middle) -> f32 {
    var total = 0.0;
    for (var i = 0u; i < 2u; i++) {
        let part = value.inner[i];
        total += part.a.x + part.a.y + part.b;
    }
    return total;
}

@compute @workgroup_size(1)
fn main() {
    let middle = outer.middle;
    let total = sum(middle);
    outer.middle.inner[0].b = total * inner.b;
    outer.matrix = outer.matrix * total;
    outer.middle.flag = u32(total > 1.0);
}
