// y = a * x + y
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read> numbers: array<u32, 2>;

@compute @workgroup_size(64)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = i32(id.x);
    let a = f32(numbers[0]) * 0.5;
    let n = i32(numbers[1]) + 40;
    if (i < n) {
        let xi = x[i];
        let yi = y[i];
        let r = a * xi + yi;
        y[i] = r;
    }
}
