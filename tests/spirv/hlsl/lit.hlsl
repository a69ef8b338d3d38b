struct VSOut { float4 pos : SV_Position; float3 normal : NORMAL; float2 uv : TEXCOORD0; };
Texture2D<float4> albedo : register(t0);
SamplerState samp : register(s0);
cbuffer Light : register(b0) { float3 direction; float ambient; float4 colors[4]; };
class Shade {
    float gain;
    float3 apply(float3 c) { float3 scaled = c * gain; return saturate(scaled); }
};
float lambert(float3 n) { float d = dot(normalize(n), direction); return max(d, ambient); }
float4 main(VSOut input) : SV_Target {
    float4 base = albedo.Sample(samp, input.uv);
    float l = lambert(input.normal);
    Shade shade; shade.gain = l;
    float3 c = shade.apply(base.rgb);
    [unroll] for (int i = 0; i < 2; i++) { float3 extra = colors[i].rgb * 0.25; c += extra; }
    switch (int(input.uv.x * 4)) { case 0: { float k = 0.5; c *= k; break; } case 1: c.g = 0; break; default: break; }
    if (c.r < 0.1) discard;
    return float4(c, base.a);
}
