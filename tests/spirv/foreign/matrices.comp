#version 450
layout(local_size_x = 1) in;

layout(std140, binding = 0) uniform Params {
    mat3 columns;
    layout(row_major) mat3 rows;
    mat2x3 two;
    layout(row_major) mat2x3 three;
    mat3 each[2];
    float last;
} params;

layout(std430, binding = 1) buffer Results {
    mat2 tight;
    layout(row_major) mat2x3 rows;
    float last;
} results;

void main() {
    mat3 held = params.columns * params.rows * params.each[1];
    results.rows = params.two + params.three;
    results.tight = mat2(held);
    results.last = params.last;
}
