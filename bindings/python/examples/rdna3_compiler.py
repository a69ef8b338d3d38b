"""A compiler without LLVM: a tiny language to a code object for RDNA3, with variables, a region of lanes, and frames.

    python rdna3_compiler.py OUT.o

The machine code is put together here, and the debug information is described beside it, statement by statement. The
compiler is the class `Function`; the rest of the file is the program, and what is done with the object.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import eitri
from eitri import location

# Operation numbers of RDNA3 (the ISA's chapters 16.3 VOP2 and 16.9 VOPC).
VOP2 = {"+": 0x25, "-": 0x26, "*": 0x0B, "<<": 0x18}
VOPC = {"<": 0x41, ">": 0x44}
VGPR, LITERAL, EXEC, VCC = 256, 255, 126, 106


class Function:
    """Compiles a function: `code` grows with each statement, and the description gets what a debugger needs."""

    def __init__(self, d: eitri.Description, unit: str, name: str, parameter: str, line: int, first: int) -> None:
        self.d, self.unit, self.name, self.code, self.line = d, unit, name, bytearray(), line
        self.homes, self.first = {parameter: 0}, first
        self.born: dict[str, int] = {}
        self.rows: list[list[int | str]] = []
        self.regions: list[tuple[int, int, int]] = []
        self.calls: list[tuple[int, str]] = []
        self.fixups: list[int] = []

    def words(self, *words: int) -> int:
        """Appends machine code, and returns its pc."""
        pc = len(self.code)
        self.code += b"".join(struct.pack("<I", word & 0xFFFFFFFF) for word in words)
        return pc

    def operand(self, name: str) -> int:
        """A number, a scalar register or a vector register as the first operand."""
        return 128 + int(name) if name.isdigit() else 2 if name == "n" else VGPR + self.homes[name]

    def at(self, line: int) -> None:
        """Begins a line of the source."""
        self.rows.append([len(self.code), self.unit, line])

    def assign(self, name: str, left: str, operator: str = "", right: str = "") -> None:
        """`name = left operator right`; the right operand is a variable."""
        home = self.homes.setdefault(name, self.first + len(self.homes))
        if operator:
            self.words(VOP2[operator] << 25 | home << 17 | self.homes[right] << 9 | self.operand(left))
        else:
            self.words(0x7E000200 | home << 17 | self.operand(left))
        self.born.setdefault(name, len(self.code))

    def begin_if(self, left: str, operator: str, right: str) -> tuple[int, int]:
        """Runs what follows in the lanes where the comparison holds. s6 keeps the mask of the lanes before."""
        self.words(0x7C000000 | VOPC[operator] << 17 | self.homes[right] << 9 | self.operand(left))
        waits = self.words(0xBE862000 | VCC)  # s_and_saveexec_b32 s6, vcc_lo
        return waits, len(self.code)

    def end_if(self, begun: tuple[int, int]) -> None:
        """Ends the region."""
        self.regions.append((*begun, self.words(0x8C000000 | EXEC << 16 | 6 << 8 | EXEC)))

    def call(self, name: str, callee: str, argument: str) -> None:
        """`name = callee(argument)`: the argument and the result are in v0, the return address in s30 and s31."""
        self.words(0x7E000200 | VGPR + self.homes[argument])
        self.words(0xBE884700)  # s_getpc_b64 s[8:9]
        self.fixups.append(self.words(0x80000000 | 8 << 16 | LITERAL << 8 | 8, 0) + 4)  # s_add_u32 s8, s8, distance
        self.words(0x82098009)  # s_addc_u32 s9, s9, 0
        self.calls.append((self.words(0xBE9E4908), callee))  # s_swappc_b64 s[30:31], s[8:9]
        self.homes["result"] = 0
        self.assign(name, "result")

    def describe(self, *, is_kernel: bool, parameter: eitri.types.Location, type: str, end: int) -> None:
        """Adds the function to the description, when its code is there."""
        d, size = self.d, len(self.code)
        code: eitri.types.Code = {"symbol": self.name, "bytes": size}
        if is_kernel:
            d.function(self.unit, self.name, code=code, kernel=True, declared=[self.unit, self.line], describes_calls="all")
        else:
            d.function(self.unit, self.name, code=code, returns=type, declared=[self.unit, self.line],
                       stack={"base": "s32", "scaling": "lane"})
            d.frame(self.name, cfa_in_scratch=[[0, size, "s32", 0]], return_address=[[0, size, "s30", "s31"]])
        d.parameter(self.name, next(iter(self.homes)), type, live=[[0, end, parameter]])
        for name, start in self.born.items():
            d.variable(self.name, name, type, live=[[start, size, location.per_lane(f"v{self.homes[name]}")]])
        if self.regions:
            d.lanes(self.name)
        for waits, start, stop in self.regions:
            d.region(self.name, "then", [start, stop], waits, [[start, stop, location.register("s6")]])
        for pc, callee in self.calls:
            d.call(self.name, at=pc, returns_to=pc + 4, calls=callee)
        d.rows(self.name, self.rows)


def compile_program() -> tuple[eitri.Description, dict[str, bytes]]:
    """Compiles the program: each lane triples its number, adds `n` where `n` is greater, and doubles it.

        1  fn twice(x):            5  kernel scale(n):
        2      y = x + x           6      i = lane
        3      return y            7      x = 3 * i
                                   8      if n > x:
                                   9          x = n + x
                                   10     z = twice(x)
    """
    d = eitri.Description("amdgpu-gfx1100-wave32")
    unit = d.unit("scale.tiny", producer="a compiler of 60 lines", directory="/src")
    uint = d.base_type(unit, "uint", "unsigned", 32)

    # v1 to v39 are free in a function, and v40 to v47 survive a call.
    twice = Function(d, unit, "twice", "x", 1, first=1)
    twice.at(2)
    twice.assign("y", "x", "+", "x")
    twice.at(3)
    twice.words(0x7E000200 | VGPR + twice.homes["y"])
    end = twice.words(0xBE80481E)  # s_setpc_b64 s[30:31]

    scale = Function(d, unit, "scale", "n", 5, first=40)
    scale.at(5)
    scale.words(0xF4000080, 0xF8000000)  # s_load_b32 s2, s[0:1], 0x0
    scale.words(0xBF89FC07)  # s_waitcnt lgkmcnt(0)
    scale.homes["lane"] = 0
    scale.at(6)
    scale.assign("i", "lane")
    scale.at(7)
    scale.assign("x", "3", "*", "i")
    scale.at(8)
    begun = scale.begin_if("n", ">", "x")
    scale.at(9)
    scale.assign("x", "n", "+", "x")
    scale.end_if(begun)
    scale.at(10)
    scale.call("z", "twice", "x")
    scale.words(0xBFB00000)  # s_endpgm

    # `twice` is at the next multiple of 256, and the distance counts from the instruction after s_getpc_b64.
    for at in scale.fixups:
        distance = -(-len(scale.code) // 256) * 256 - (at - 4)
        struct.pack_into("<I", scale.code, at, distance)
    twice.describe(is_kernel=False, parameter=location.per_lane("v0"), type=uint, end=end)
    # `n` is in the arguments of the kernel, to which s0 and s1 point until the call, which can overwrite them.
    argument = location.kernel_argument("s0", "s1", 0)
    scale.describe(is_kernel=True, parameter=argument, type=uint, end=scale.calls[0][0] + 4)
    return d, {"scale": bytes(scale.code), "twice": bytes(twice.code)}


def main(out: str) -> None:
    """Compiles the program, checks the object, and writes it."""
    d, code = compile_program()
    object = eitri.emit(d, code=code, consumer="rocgdb")
    for warning in object.warnings:
        print(warning)
    report = eitri.check(d, object, consumer="rocgdb")
    print(report)
    if not report:
        sys.exit(1)
    Path(out).write_bytes(object.data)


if __name__ == "__main__":
    main(sys.argv[1])
