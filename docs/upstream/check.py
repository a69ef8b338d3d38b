#!/usr/bin/env python3
"""Compiles the sources of upstream.md that need only clang, gcc, dwz and llvmlite, and says for each whether the fault is still there.

  check.py [--clang clang-22] [--suffix -22] [--cc gcc-16] [--native]

`--clang` and `--suffix` name the compiler and its tools (llvm-dwarfdump, llvm-dwarfutil, llvm-objdump). Objects for AMDGPU come
from LLVM 22's back end in llvmlite, or, with `--native`, from clang itself. The numbers are those of upstream.md. The exit code
is 1 if a fault is gone, 0 otherwise; a check whose tool is missing is skipped.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")


class Skipped(Exception):
    """A tool is missing."""


def run(*command, **options):
    if not shutil.which(command[0]):
        raise Skipped(command[0])
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result.stdout


class Checks:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder

    def tool(self, name):
        return name + self.arguments.suffix

    def dump(self, path, *options):
        return run(self.tool("llvm-dwarfdump"), *options, path)

    def disassemble(self, path, function):
        return run(self.tool("llvm-objdump"), "-d", "--no-show-raw-insn", f"--disassemble-symbols={function}", path)

    def compile(self, compiler, source, *options):
        out = os.path.join(self.folder, "x.o")
        run(compiler, "-g", *options, "-c", os.path.join(HERE, source), "-o", out)
        return out

    def amdgpu(self, source, level, cpu="gfx1100"):
        out = os.path.join(self.folder, "a.o")
        options = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-nogpulib", level]
        if self.arguments.native:
            return self.compile(self.arguments.clang, source, *options)
        try:
            from llvmlite import binding
        except ImportError:
            raise Skipped("llvmlite") from None
        module = self.compile(self.arguments.clang, source, *options, "-emit-llvm")
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        target = binding.Target.from_triple("amdgcn-amd-amdhsa")
        machine = target.create_target_machine(cpu=cpu, opt=int(level[2]), reloc="pic", codemodel="default")
        with open(module, "rb") as file:
            code = machine.emit_object(binding.parse_bitcode(file.read()))
        with open(out, "wb") as file:
            file.write(code)
        return out

    def conversion_without_stack_value(self):  # 1
        text = self.dump(self.compile(self.arguments.clang, "convert.c", "-O2"))
        return any("DW_OP_convert" in line and "DW_OP_stack_value" not in line for line in text.splitlines())

    def constant_as_address(self):  # 2
        text = self.dump(self.compile(self.arguments.clang, "constant.c", "-O1", "-gdwarf-3"))
        return bool(re.search(r"DW_OP_consts \+42\s*$", text, re.M))

    def no_frame_base(self):  # 3
        text = self.dump(self.amdgpu("frame_base.cl", "-O2"))
        functions = re.split(r"DW_TAG_subprogram", text)[1:]
        return any("DW_OP_fbreg" in part and "DW_AT_frame_base" not in part for part in functions)

    def register_as_address(self):  # 4
        text = self.dump(self.amdgpu("vgpr.cl", "-O2"))
        return bool(re.search(r"DW_OP_bregx 0x600 \+0, DW_OP_lit\d+, DW_OP_swap, DW_OP_xderef\)", text))

    def literal_as_address(self):  # 5
        text = self.dump(self.amdgpu("literal.cl", "-O2"))
        return bool(re.search(r"DW_OP_(lit|const)\S* ?\S*, DW_OP_lit\d+, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value", text))

    def slot_in_wave_bytes(self):  # 6
        path = self.amdgpu("slot.cl", "-O0", "gfx1030")
        text, code = self.dump(path), self.disassemble(path, "set")
        return bool(re.search(r"frame_base\s+\(DW_OP_regx (SGPR33\w*|0x41)\)", text)) and "DW_OP_fbreg +0, DW_OP_lit" in text and "s32, 0x200" in code

    def frame(self):
        path = self.amdgpu("frames.cl", "-O2")
        text = self.dump(path, "--eh-frame")
        frames = [part for part in text.split(" FDE ")[1:] if "DW_OP_bit_piece 0x20 0x20" in part]
        if not frames:
            raise Skipped("frames in .eh_frame: LLVM 23")
        return path, frames[0]

    def rule_outlives_save(self):  # 7
        path, frame = self.frame()
        code = self.disassemble(path, "f")
        return "v_readlane_b32 s30" in code and frame.count("DW_CFA_expression: PC_REG") == 2

    def saved_in_part(self):  # 8
        path, frame = self.frame()
        code = self.disassemble(path, "f")
        stored = re.search(r"s_xor_saveexec_b32 s\d+, -1[^\n]*\n\s*scratch_store_b32 off, v(\d+), s33", code)
        return bool(stored) and f"DW_CFA_offset_extended: reg{1536 + int(stored[1])} 0" in frame

    def changed_without_rule(self):  # 9
        _, frame = self.frame()
        copy = re.search(r"DW_CFA_register: SGPR33 (SGPR\d+)", frame)
        return bool(copy) and f"DW_CFA_undefined: {copy[1]}\n" not in frame

    def types_dropped(self):  # 10
        out, new = os.path.join(self.folder, "list"), os.path.join(self.folder, "list.new")
        run(self.arguments.cc, "-g", "-gdwarf-4", os.path.join(HERE, "list.c"), "-o", out)
        run("dwz", out)
        run(self.tool("llvm-dwarfutil"), out, new)
        return "DW_AT_type" in self.dump(out) and "DW_AT_type" not in self.dump(new)

    def parameter_in_swapped_registers(self):  # 14
        path = self.compile(self.arguments.cc, "shift.c", "-O2")
        location = re.search(r'DW_AT_name\s+\("a"\)(?:(?!DW_TAG).)*?DW_AT_location\s+\(([^\n]*)\)\n', self.dump(path), re.S)
        code = self.disassemble(path, "f")
        both = re.search(r"xchgq\s+%r[sd]i, %r[sd]i|movq\s+%rdi, %rsi\n.*movq\s+%r\w+, %rdi", code)
        return bool(location and re.fullmatch(r"DW_OP_reg\d \w+, DW_OP_piece 0x8, DW_OP_reg\d \w+, DW_OP_piece 0x8", location[1]) and both)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--suffix", default="-19")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--native", action="store_true")
    arguments = parser.parse_args()
    gone = 0
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(arguments, folder)
        for number, check in [(1, checks.conversion_without_stack_value), (2, checks.constant_as_address),
                              (3, checks.no_frame_base), (4, checks.register_as_address), (5, checks.literal_as_address),
                              (6, checks.slot_in_wave_bytes), (7, checks.rule_outlives_save), (8, checks.saved_in_part),
                              (9, checks.changed_without_rule), (10, checks.types_dropped),
                              (14, checks.parameter_in_swapped_registers)]:
            try:
                state = "there" if check() else "gone"
            except Skipped as reason:
                state = f"skipped, without {reason}"
            gone += state == "gone"
            print(f"{number:2} {check.__name__}: {state}", flush=True)
    sys.exit(gone > 0)


main()
