"""Kernels in Triton, for `triton_hook.py`."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    start = pid * B
    offs = start + tl.arange(0, B)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    y = tl.load(y_ptr + offs, mask=m)
    total = x + y
    for i in range(n):
        total += x * i
    tl.store(o_ptr + offs, total, mask=m)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, alpha, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        kk = k + rk
        a = tl.load(a_ptr + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + kk[:, None] * N + rn[None, :], mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    scaled = acc * alpha
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], scaled, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def reduce_rows(x_ptr, o_ptr, rows, cols, scale, B: tl.constexpr):
    pid = tl.program_id(0)
    best = -1.0e30
    acc = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, cols, B):
        offs = start + tl.arange(0, B)
        v = tl.load(x_ptr + pid * cols + offs, mask=offs < cols, other=0.0)
        acc += v
        peak = tl.max(v, axis=0)
        if peak > best:
            best = peak
    total = tl.sum(acc, axis=0)
    result = total * scale + best
    if pid < rows:
        tl.store(o_ptr + pid, result)


@triton.jit
def scan_limit(x_ptr, o_ptr, n, limit, step, B: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    count = 0
    left = limit
    while left > 0:
        x = x * 3 + left
        left -= step
        count += 1
    big = tl.where(x > limit, x, count)
    tl.store(o_ptr + offs, big, mask=offs < n)
