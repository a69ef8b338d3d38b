"""Compiles OpenCL C with the newest back end of AMD's compiler (PyPI `rocm-bindings-compiler`).

The front end is clang 19, whose expressions are those of upstream LLVM, in which a location is a value. AMD's back end
writes locations on the stack for operations of its own (`DIOpArg`, `DIOpDeref`), so that the text of the module is
rewritten: what `constu A; swap; xderef` stands for follows from the record (`#dbg_declare`: memory at the pointer;
`#dbg_value`: the value).
"""

import ctypes
import glob
import os
import re
import subprocess
import sys

BINARY = {"plus": "Add", "minus": "Sub", "mul": "Mul", "div": "Div", "and": "And", "or": "Or", "xor": "Xor",
          "shl": "Shl", "shr": "LShr", "shra": "AShr", "mod": "Mod"}
# The library wants compression libraries that no package has. These refuse to compress.
STUBS = {
    "z": "int compress2(){return -1;} unsigned long compressBound(unsigned long n){return n;} int uncompress(){return -1;}"
         "unsigned long crc32(unsigned long c,const unsigned char*b,unsigned n){c=~c;while(n--){c^=*b++;"
         "for(int i=0;i<8;i++)c=(c>>1)^(0xEDB88320u&-(c&1));}return ~c&0xffffffff;}",
    "zstd": "void*ZSTD_createCCtx(){return 0;} unsigned long ZSTD_CCtx_setParameter(){return -1;}"
            "unsigned long ZSTD_compress2(){return -1;} unsigned long ZSTD_compressBound(unsigned long n){return n;}"
            "unsigned long ZSTD_decompress(){return -1;} unsigned long ZSTD_freeCCtx(){return 0;}"
            "const char*ZSTD_getErrorName(){return \"\";} unsigned ZSTD_isError(){return 1;}",
}
TYPE = r"(?:ptr(?: addrspace\(\d+\))?|<[^>]+>|i\d+|float|double|half)"


def operations(text, types):
    """Returns AMD's operations for LLVM's, on arguments of these types; None where an operation has no counterpart."""
    words = [word.strip().removeprefix("DW_OP_") for word in text.split(",") if word.strip()]
    out = [] if "LLVM_arg" in words else [f"DIOpArg(0, {types[0]})"]
    index = 0
    while index < len(words):
        word = words[index]
        operand = words[index + 1] if index + 1 < len(words) else ""
        if word == "constu" and words[index + 2:index + 4] == ["swap", "xderef"]:
            index += 4
            continue
        if word == "LLVM_arg":
            out.append(f"DIOpArg({operand}, {types[int(operand)]})")
        elif word in ("constu", "consts"):
            number = int(operand)
            out.append(f"DIOpConstant({types[0]} {number - ((number >> 63) << 64)})")
        elif word == "plus_uconst":
            out += [f"DIOpConstant({types[0]} {operand})", "DIOpAdd()"]
        elif word == "LLVM_fragment":
            out.append(f"DIOpFragment({operand}, {words[index + 2]})")
            index += 1
        elif word in BINARY:
            out.append(f"DIOp{BINARY[word]}()")
            index -= 1
        elif word == "stack_value":
            index -= 1
        else:
            return None
        index += 2
    return ", ".join(out)


def convert(text):
    """Rewrites the records of a module."""
    text = text.replace("DW_CC_LLVM_OpenCLKernel", "DW_CC_LLVM_DeviceKernel")
    text = text.replace("dwarfAddressSpace", "addressSpace")
    allocated = dict(re.findall(r"^\s*(%[\w.]+) = alloca ([^,\n]+), ", text, re.M))

    def value(found):
        arguments, variable, expression, location = found.groups()
        is_list = arguments.startswith("!DIArgList")
        types = re.findall(rf"({TYPE})\s[^,\s)]+", arguments) if is_list else [arguments.rsplit(" ", 1)[0]]
        own = operations(expression, types)
        return "" if own is None else f"#dbg_value({arguments}, {variable}, !DIExpression({own}), {location})"

    def declare(found):
        pointer, name, variable, location = found.groups()
        own = f"DIOpArg(0, {pointer}), DIOpDeref({allocated.get(name, 'i32')})"
        return f"#dbg_declare({pointer} {name}, {variable}, !DIExpression({own}), {location})"

    arguments = r"!DIArgList\([^)]*(?:\(\d+\)[^)]*)*\)|[^!]*?"
    text = re.sub(rf"#dbg_value\(({arguments}), (!\d+), !DIExpression\(([^)]*)\), (!\d+)\)", value, text)
    declared = r"(ptr(?: addrspace\(\d+\))?) (\S+), (!\d+), !DIExpression\([^)]*\), (!\d+)"
    return re.sub(rf"#dbg_declare\({declared}\)", declare, text)


def library(folder):
    """Loads the library from the packages that Python finds. Stubs for it are built in a folder."""
    with open(os.path.join(folder, "stubs.map"), "w") as out:
        out.write("AMDROCM_SYSDEPS_1.0 { global: *; };")
    for name, text in STUBS.items():
        source, built = (os.path.join(folder, f"librocm_sysdeps_{name}.{end}") for end in ("c", "so.1"))
        with open(source, "w") as out:
            out.write(text)
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", f"-Wl,--version-script={folder}/stubs.map",
                        f"-Wl,-soname,{os.path.basename(built)}", source, "-o", built], check=True)
        ctypes.CDLL(built, mode=ctypes.RTLD_GLOBAL)
    places = (os.path.join(place, "rocm", "bindings", "**", "libLLVM.so*") for place in sys.path)
    [path] = [path for place in places for path in glob.glob(place, recursive=True)][:1]
    return ctypes.CDLL(path)


def emit(llvm, text, out, cpu):
    """Writes the object of a module's text, optimized as -O2 does."""
    for part in ("TargetInfo", "Target", "TargetMC", "AsmParser", "AsmPrinter"):
        getattr(llvm, f"LLVMInitializeAMDGPU{part}")()
    pointer = ctypes.c_void_p
    for name in ("LLVMContextCreate", "LLVMCreateMemoryBufferWithMemoryRangeCopy", "LLVMCreateTargetMachine"):
        getattr(llvm, name).restype = pointer
    data = text.encode()
    size = ctypes.c_size_t(len(data))
    buffer = pointer(llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size, b"module"))
    module, target, error = pointer(), pointer(), ctypes.c_char_p()
    context = pointer(llvm.LLVMContextCreate())
    triple = b"amdgcn-amd-amdhsa"
    if (llvm.LLVMParseIRInContext(context, buffer, ctypes.byref(module), ctypes.byref(error))
            or llvm.LLVMGetTargetFromTriple(triple, ctypes.byref(target), ctypes.byref(error))):
        raise SystemExit(error.value.decode())
    machine = pointer(llvm.LLVMCreateTargetMachine(target, triple, cpu.encode(), b"", 2, 2, 0))
    if llvm.LLVMTargetMachineEmitToFile(machine, module, out.encode(), 1, ctypes.byref(error)):
        raise SystemExit(error.value.decode())


def compile_source(source, out, cpu, folder):
    """Compiles a file of OpenCL C to an object that is not linked."""
    assembly = os.path.join(folder, "module.ll")
    subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-nogpulib",
                    "-O2", "-g", "-Xclang", "-finclude-default-header", "-emit-llvm", "-S", source, "-o", assembly],
                   check=True)
    with open(assembly) as text:
        emit(library(folder), convert(text.read()), out, cpu)
