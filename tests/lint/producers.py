"""Compiles a kernel with the newest LLVM (llvmlite), AMD's newest compiler and the newest Triton, and lints it.

Usage: producers.py EITRI FOLDER. Prints the codes that `eitri lint` finds with their numbers, and fails where they are
not those below: a release that changes them is to be looked at.
"""

import json
import linecache
import os
import subprocess
import sys
from importlib import metadata

import amd

EITRI, FOLDER = sys.argv[1:3]

# Findings of LLVM 22.1 (llvmlite 0.50), AMD's compiler (ROCm 10.0) and Triton 3.9.
EXPECTED = {
    "amd.o": {"saved-without-rule": 1, "no-lane-pc": 2, "lanes-not-written": 1},
    "llvm.o": {"no-cfa": 1, "no-lane-pc": 1, "register-as-memory": 3, "recoverable-unlocated": 4},
    "triton.hsaco": {
        "constant-for-computed": 1,
        "no-lane": 3,
        "no-lane-pc": 1,
        "zero-size-type": 2,
        "recoverable-unlocated": 4,
        "ambiguous-attribute": 1,
    },
}

# A function that changes vcc, and a branch whose result is set on both sides.
SPLIT = """
__attribute__((noinline)) float leaf(float x, int k) {
  float s = x;
  for (int j = 0; j < k; j++) s = s * 1.5f + (float)j;
  return s;
}
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
"""

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    m = offs < n
    x = tl.load(x_ptr + offs, mask=m)
    y = tl.load(y_ptr + offs, mask=m)
    total = x + y
    tl.store(o_ptr + offs, total, mask=m)
"""


def llvm(file):
    from llvmlite import binding
    bitcode = os.path.join(FOLDER, "saxpy.bc")
    subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib",
                    "-O2", "-g", "-Xclang", "-finclude-default-header", "-emit-llvm", "-c", "examples/data/k01_saxpy.cl",
                    "-o", bitcode], check=True)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    with open(bitcode, "rb") as data:
        module = binding.parse_bitcode(data.read())
    target = binding.Target.from_triple("amdgcn-amd-amdhsa")
    machine = target.create_target_machine(cpu="gfx1030", opt=2, reloc="pic", codemodel="default")
    with open(file, "wb") as out:
        out.write(machine.emit_object(module))
    return ".".join(map(str, binding.llvm_version_info))


def rocm(file):
    source = os.path.join(FOLDER, "split.cl")
    with open(source, "w") as out:
        out.write(SPLIT)
    amd.compile_source(source, file, "gfx1100", FOLDER)
    return metadata.version("rocm-bindings-compiler")


def triton(file):
    os.environ["LLVM_EXTRACT_DI_LOCAL_VARIABLES"] = "1"
    os.environ["TRITON_CACHE_DIR"] = os.path.join(FOLDER, "cache")
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    linecache.cache["add.py"] = (len(KERNEL), None, KERNEL.splitlines(True), "add.py")
    names = {"__name__": "add", "__file__": "add.py"}
    exec(compile(KERNEL, "add.py", "exec"), names)
    types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "B": "constexpr"}
    kernel = triton.compile(ASTSource(names["add"], types, {"B": 256}), target=GPUTarget("hip", "gfx1100", 32))
    with open(file, "wb") as out:
        out.write(kernel.asm["hsaco"])
    return triton.__version__


def main():
    differs = False
    for name, producer in [("llvm.o", llvm), ("amd.o", rocm), ("triton.hsaco", triton)]:
        file = os.path.join(FOLDER, name)
        version = producer(file)
        ran = subprocess.run([EITRI, "lint", "--format", "json", file], capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            raise SystemExit(ran.stderr)
        counts = {}
        for line in ran.stdout.splitlines():
            finding = json.loads(line)
            counts[finding["code"]] = counts.get(finding["code"], 0) + 1
        is_same = counts == EXPECTED[name]
        differs |= not is_same
        print(f"{producer.__name__} {version}: {counts}" + ("" if is_same else f", and {EXPECTED[name]} before"))
    sys.exit(differs)


main()
