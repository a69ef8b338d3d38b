struct Particle { position: vec3<f32>, mass: f32, velocity: vec3<f32>, }
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
var<private> step: f32 = 0.25;

fn advance(particle: ptr<function, Particle>, by: f32) -> bool {
    (*particle).position += (*particle).velocity * by;
    let is_out = length((*particle).position) > 10.0;
    if is_out { (*particle).velocity = -(*particle).velocity; }
    return is_out;
}

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var particle = particles[id.x];
    if advance(&particle, step) { step = step * 0.5; }
    particles[id.x] = particle;
}
