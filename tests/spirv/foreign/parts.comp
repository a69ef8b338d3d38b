#version 450
layout(local_size_x = 32) in;

layout(set = 0, binding = 0) buffer Input { float inputs[]; };
layout(set = 0, binding = 1) buffer Output { float outputs[]; };

struct Range {
    float low;
    float high;
};

struct Cell {
    uint count;
    Range range;
    vec3 normal;
    float samples[2];
};

float width(Range range) {
    return range.high - range.low;
}

void main() {
    uint at = gl_GlobalInvocationID.x;
    Cell cell;
    cell.count = at * 3u;
    cell.range.low = inputs[at];
    cell.range.high = inputs[at + 1u];
    cell.normal = vec3(inputs[at + 2u]);
    cell.samples[0] = width(cell.range);
    cell.samples[1] = dot(cell.normal, cell.normal);
    mat2 turn;
    turn[0] = cell.normal.xy;
    turn[1] = cell.normal.yz;
    outputs[at] = cell.samples[0] * cell.samples[1] + float(cell.count) + determinant(turn);
}
