import os
os.environ["LLVM_EXTRACT_DI_LOCAL_VARIABLES"] = os.environ["TRITON_ALWAYS_COMPILE"] = "1"
import triton, triton.language as tl
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget

@triton.jit
def add(x_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(x_ptr + offs, x * n, mask=offs < n)

source = ASTSource(add, {"x_ptr": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 128})
open("add.hsaco", "wb").write(triton.compile(source, target=GPUTarget("hip", "gfx1100", 32)).asm["hsaco"])
open("add.cubin", "wb").write(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"])
