struct range {
    float low;
    float high;
};

struct cell {
    uint count;
    struct range range;
    float3 normal;
    float samples[2];
};

float width(struct range *range)
{
    return range->high - range->low;
}

kernel void parts(global const float *inputs, global float *outputs)
{
    size_t at = get_global_id(0);
    struct cell cell;
    cell.count = at * 3;
    cell.range.low = inputs[at];
    cell.range.high = inputs[at + 1];
    cell.normal = (float3)(inputs[at + 2]);
    cell.samples[0] = width(&cell.range);
    cell.samples[1] = dot(cell.normal, cell.normal);
    outputs[at] = cell.samples[0] * cell.samples[1] + cell.count;
}
