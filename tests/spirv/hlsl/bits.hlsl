struct V { float3 position : POSITION; uint id : SV_VertexID; };
cbuffer M : register(b0) { row_major float4x4 world; float4x4 view; };
struct Bits { uint low : 5; uint high : 27; };
float4 transform(float3 p, float4x4 m) { float4 q = float4(p, 1); return mul(m, q); }
float4 main(V v, out float3 color : COLOR) : SV_Position {
    int2 grid = int2(v.id & 15, v.id >> 4);
    bool odd = (grid.x ^ grid.y) & 1;
    Bits bits; bits.low = v.id; bits.high = grid.x;
    color = odd ? float3(1, 0, 0) : float3(bits.low / 31.0, bits.high, 1);
    float4 world_position = transform(v.position, world);
    float4 result = mul(view, world_position);
    return result;
}
