struct Grid { cells: array<array<u32, 4>, 3>, total: u32, }
@group(0) @binding(0) var<storage, read_write> grid: Grid;
@group(0) @binding(1) var<storage, read> all: array<vec4<f32>>;

@compute @workgroup_size(4, 3)
fn main(@builtin(local_invocation_id) at: vec3<u32>) {
    var row = grid.cells[at.y];
    row[at.x] = row[at.x] + arrayLength(&all);
    grid.cells[at.y] = row;
    grid.total = row[0] + row[3];
}
