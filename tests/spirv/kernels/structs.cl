typedef struct { float4 pos; float3 vel; int id; } Particle;
typedef struct { float dt; float4 g; int n; struct { int lo, hi; } clip; } Params;
enum Mode { MODE_EULER = 1, MODE_VERLET = 2 };
typedef union { uint u; float f; uchar b[4]; } Pun;
__constant float tbl[8] = {0,1,2,3,5,8,13,21};
__kernel void structs(__global Particle *ps, Params prm, enum Mode mode, __local int *scratch,
                      __global int *hits) {
  int i = get_global_id(0);
  if (i >= prm.n) return;
  Particle p = ps[i];
  float3 v = p.vel + prm.g.xyz * prm.dt;
  if (mode == MODE_VERLET) v *= 0.99f;
  p.pos.xyz += v * prm.dt;
  p.vel = v;
  Pun u; u.f = p.pos.x;
  int cell = (int)(u.b[3] & 7);
  float w = tbl[cell];
  scratch[get_local_id(0)] = cell;
  if (cell >= prm.clip.lo && cell < prm.clip.hi) atomic_add(hits, 1);
  p.pos.w = w;
  ps[i] = p;
}
