// Structures in private and global memory, vectors, and an atomic counter.
struct Particle {
    pos: vec4<f32>,
    vel: vec3<f32>,
    id: i32,
}
struct Params {
    dt: f32,
    drag: f32,
    lo: i32,
    hi: i32,
}
@group(0) @binding(0) var<storage, read_write> particles: array<Particle, 32>;
@group(0) @binding(1) var<storage, read> params: Params;
@group(0) @binding(2) var<storage, read_write> hits: atomic<u32>;

@compute @workgroup_size(32)
fn structs(@builtin(local_invocation_index) i: u32) {
    var p = particles[i];
    let dt = params.dt;
    var v = p.vel * params.drag;
    v += vec3<f32>(0.0, -1.0, 0.5) * dt;
    if (p.pos.x > 0.0) {
        v *= 0.5;
    }
    p.pos = p.pos + vec4<f32>(v, 0.0) * dt;
    p.vel = v;
    let cell = i32(p.pos.x);
    if (cell >= params.lo && cell < params.hi) {
        let old = atomicAdd(&hits, 1u);
        p.id = i32(old);
    }
    particles[i] = p;
}
