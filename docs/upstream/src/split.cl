kernel void split(global const int *in, global int *out, int threshold) {
  int i = __builtin_amdgcn_workitem_id_x();
  int v = in[i];
  int r;
  if (v > threshold) {
    int a = v * 3;
    r = out[a & 63] + 1;
  } else {
    int d = threshold - v;
    r = d * d;
  }
  out[i] = r;
}
