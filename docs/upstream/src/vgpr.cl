kernel void one(global int *p) {
  int v = p[__builtin_amdgcn_workitem_id_x()];
  p[0] = v * v;
}
