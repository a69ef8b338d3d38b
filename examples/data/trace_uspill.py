#!/usr/bin/env python3
"""Check the table in uspill.rs against the machine code of kernel `uspill`.

usage: trace_uspill.py uspill.o

Interprets the disassembly of `uspill` (llvm-objdump-19) one instruction at a
time, next to a plain evaluation of the C source, for several trip counts and
random input.  Before each instruction it asks of every variable:

  * does each place the table gives hold the variable's value?      (sound)
  * does any other SGPR, or lane of the spill register v1, hold the
    value on every visit of this pc, without being in the table?  (complete)

A register that a scalar load has been issued to holds nothing until the
s_waitcnt that covers the load.  What is stored to `out` is checked too.
"""

import os
import random
import re
import subprocess
import sys

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
LANES = 32  # wavefront size of the kernel
VCC_LO, VCC_HI = 106, 107  # as scalar operands are numbered in the machine code
SPILL = 1  # the VGPR whose lanes hold spilled SGPRs
DISPATCH, KERNARG = 0x7E11_2345_6780, 0x7E22_3456_7890
U, OUT = 0x7E33_4567_89A0, 0x7E44_5678_9AB0
GROUP, GROUP_SIZE = 3, LANES

# The instruction that finishes each source assignment, and the register the
# result is in.  Until it has executed, the value is that of the assignment
# before.  Found by the multiplier and the xor operand of each source line.
FINISH = {
    0x17C: ("acc", 0), 0x1C0: ("i", 8), 0x204: ("s0", VCC_LO), 0x210: ("acc", 0),
    0x214: ("s1", 27), 0x224: ("s2", 26), 0x230: ("s3", 25), 0x23C: ("s4", 4),
    0x254: ("s5", 15), 0x264: ("s6", VCC_HI), 0x26C: ("s7", 2), 0x278: ("s8", 24),
    0x284: ("s9", 14), 0x294: ("s10", 1), 0x29C: ("s11", 3), 0x2A8: ("s12", 23),
    0x2B4: ("s13", 22), 0x2C0: ("s14", 21), 0x2CC: ("s15", 20), 0x2D8: ("s16", 19),
    0x2E4: ("s17", 18), 0x2F0: ("s18", 17), 0x2FC: ("s19", 16), 0x308: ("s20", 13),
    0x314: ("s21", 12), 0x320: ("s22", 11), 0x330: ("s23", 4), 0x348: ("s24", 10),
    0x354: ("s25", 7), 0x364: ("s26", 9), 0x380: ("i", 8), 0x384: ("s27", 6),
}
LOOP_EXIT = 0x398  # `i` is out of scope from here on


def disassemble(path):
    """[(pc, size, mnemonic, operands)] of uspill, pc from its first byte."""
    text = subprocess.run(
        ["llvm-objdump-19", "-d", "--disassemble-symbols=uspill", path],
        check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\s+(\S+) ?(.*?)\s+// ([0-9A-F]{12}): ((?:[0-9A-F]{8} ?)+)", text, re.M)
    base = int(found[0][2], 16)
    return [(int(at, 16) - base, 4 * len(words.split()), name,
             [o for o in re.split(r", | (?=offset:)", operands) if o])
            for name, operands, at, words in found]


def read_table(path):
    """(code bytes, pcs of LINES, {name: [(start, end, {place})]}) of uspill.rs."""
    text = open(path, encoding="utf-8").read()
    size = int(re.search(r"CODE_BYTES: u64 = (\w+);", text)[1], 0)
    lines = [int(pc, 16) for pc in re.findall(r"\bpc: (0x\w+)", text)]
    table, stays = {}, None
    for name, start, end, sgpr, vgpr, lane in re.findall(
            r'name: "(\w+)"|start: (0x\w+),\s*end: (0x\w+)|Place::Sgpr\((\d+)\)'
            r"|Place::Lane \{\s*vgpr: (\d+),\s*lane: (\d+),?\s*\}", text):
        if name:
            stays = table.setdefault(name, [])
        elif start:
            stays.append((int(start, 16), int(end, 16), set()))
        elif sgpr:
            stays[-1][2].add(("s", int(sgpr)))
        else:
            stays[-1][2].add(("v", int(vgpr), int(lane)))
    return size, lines, table


def source(u, n):
    """{variable: [value after its 1st, 2nd, ... assignment]} by the C source."""
    s = [u[1 + 3 * k] for k in range(28)]
    seen = {f"s{k}": [s[k]] for k in range(28)} | {"acc": [1], "i": [0], "n": [n & M32]}
    for i in range(n):
        for k in range(28):
            s[k] = (s[k] * (2 * k + 3) + (s[(k + 5) % 28] ^ i)) & M32
            seen[f"s{k}"].append(s[k])
        seen["acc"].append(seen["acc"][-1] ^ s[0])
        seen["i"].append(i + 1)
    return seen


class Wave:
    """One wavefront of the kernel: the registers, and memory by dword address."""

    def __init__(self, u, n):
        self.s = [None] * 128
        self.v = [[None] * LANES for _ in range(32)]
        self.s[4:9] = [DISPATCH & M32, DISPATCH >> 32, KERNARG & M32, KERNARG >> 32, GROUP]
        self.v[0] = list(range(LANES))
        self.scc, self.loads, self.mem = None, [], {DISPATCH + 4: 7 << 16 | GROUP_SIZE}
        self.mem |= {U + 4 * k: value for k, value in enumerate(u)}
        for k, dword in enumerate([U & M32, U >> 32, OUT & M32, OUT >> 32, n & M32]):
            self.mem[KERNARG + 4 * k] = dword

    @staticmethod
    def regs(operand):
        """Numbers of the registers an operand names."""
        if operand in ("vcc_lo", "vcc_hi"):
            return [VCC_LO if operand == "vcc_lo" else VCC_HI]
        if m := re.fullmatch(r"[sv]\[(\d+):(\d+)\]", operand):
            return list(range(int(m[1]), int(m[2]) + 1))
        return [int(operand[1:])]

    def get(self, operand):
        """A scalar operand: an integer, an SGPR or a run of them."""
        if operand == "null":
            return 0
        if re.fullmatch(r"-?(0x)?[0-9a-f]+", operand):
            return int(operand, 0) & M64
        values = [self.s[r] for r in self.regs(operand)]
        assert None not in values, f"{operand} is read before it has a value"
        return sum(value << 32 * k for k, value in enumerate(values))

    def put(self, operand, value):
        for k, r in enumerate(self.regs(operand)):
            self.s[r] = value >> 32 * k & M32

    def step(self, name, o):
        """Execute one instruction; for a branch taken, the words to skip."""
        if name.startswith("s_load_dword"):
            at = self.get(o[1]) + self.get(o[2])
            for k, r in enumerate(self.regs(o[0])):
                self.s[r] = None
                self.loads.append((r, self.mem[at + 4 * k]))
        elif name == "s_waitcnt":
            assert o == ["lgkmcnt(0)"]
            for r, value in self.loads:
                self.s[r] = value
            self.loads = []
        elif name == "v_writelane_b32":
            self.v[self.regs(o[0])[0]][int(o[2])] = self.get(o[1])
        elif name == "v_readlane_b32":
            value = self.v[self.regs(o[1])[0]][int(o[2])]
            assert value is not None, f"{o[1]} lane {o[2]} is read before it is written"
            self.put(o[0], value)
        elif name == "v_mov_b32_e32":
            self.v[self.regs(o[0])[0]] = [self.get(o[1]) & M32] * LANES
        elif name == "v_lshlrev_b32_e32":
            shifted = [x << self.get(o[1]) & M32 for x in self.v[self.regs(o[2])[0]]]
            self.v[self.regs(o[0])[0]] = shifted
        elif name.startswith("global_store_dword"):
            offset = int(o[3].removeprefix("offset:")) if len(o) > 3 else 0
            for lane, index in enumerate(self.v[self.regs(o[0])[0]]):
                for k, r in enumerate(self.regs(o[1])):
                    self.mem[self.get(o[2]) + index + offset + 4 * k] = self.v[r][lane]
        elif name in ("s_mov_b32", "s_mov_b64"):
            self.put(o[0], self.get(o[1]))
        elif name in ("s_cmp_lt_i32", "s_cmp_eq_u32"):
            a, b = ((self.get(x) & M32 ^ 1 << 31) - (1 << 31) for x in o)
            self.scc = int(a < b if "lt" in name else a == b)
        elif name in ("s_cbranch_scc0", "s_cbranch_scc1", "s_branch"):
            if name == "s_branch" or self.scc == int(name[-1]):
                return (int(o[0]) ^ 0x8000) - 0x8000
        elif name not in ("s_clause", "s_endpgm"):
            self.alu(name, o)
        return 0

    def alu(self, name, o):
        a, b = self.get(o[1]), self.get(o[2])
        if name == "s_add_i32":
            value = a + b & M32
            self.scc = (~(a ^ b) & (a ^ value)) >> 31 & 1
        elif name in ("s_add_u32", "s_addc_u32"):
            value = a + b + (self.scc if name == "s_addc_u32" else 0)
            self.scc, value = value >> 32, value & M32
        elif name in ("s_mul_i32", "s_mul_hi_u32"):
            value = a * b >> (32 if "hi" in name else 0) & M32
        else:
            operation = {"s_xor_b32": lambda: a ^ b, "s_and_b32": lambda: a & b,
                         "s_lshl_b64": lambda: a << (b & 63) & M64}
            value = operation[name]()
            self.scc = int(value != 0)
        self.put(o[0], value)

    def places_of(self, value):
        found = {("s", r) for r, x in enumerate(self.s) if x == value}
        return found | {("v", SPILL, j) for j, x in enumerate(self.v[SPILL]) if x == value}


def run(code, n, places):
    """Run once; narrow places[pc, variable] to those that hold its value here too."""
    u = [random.getrandbits(32) for _ in range(83)]
    wave, seen = Wave(u, n), source(u, n)
    done = {name: -1 if name in ("acc", "i") else 0 for name in seen}
    index, where = 0, {pc: k for k, (pc, *_) in enumerate(code)}
    while index < len(code):
        pc, size, name, operands = code[index]
        for variable, values in seen.items():
            now = values[done[variable]] if done[variable] >= 0 else None
            if now is None or variable == "i" and pc >= LOOP_EXIT:
                places[pc, variable] = set()
            else:
                here = wave.places_of(now)
                places[pc, variable] = places.get((pc, variable), here) & here
        skip = wave.step(name, operands)
        if pc in FINISH:
            variable, register = FINISH[pc]
            done[variable] += 1
            assert wave.s[register] == seen[variable][done[variable]], f"{pc:#x} {variable}"
        index = where[pc + size + 4 * skip] if skip else index + 1
    for k in range(28):
        assert wave.mem[OUT + 4 * k] == seen[f"s{k}"][-1], f"out[{k}]"
    for lane in range(LANES):
        at = OUT + 4 * (GROUP * GROUP_SIZE + lane + 64)
        assert wave.mem[at] == seen["acc"][-1], f"out[gid + 64], lane {lane}"


def main():
    code = disassemble(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    size, lines, table = read_table(os.path.join(here, "uspill.rs"))
    pcs = {pc for pc, *_ in code}
    assert size == code[-1][0] + code[-1][1], "CODE_BYTES"
    assert lines == sorted(set(lines)) and set(lines) <= pcs, "LINES"
    places = {}
    for n in (3, 0, 1, 2, 7, -5, 3):
        run(code, n, places)
    claimed = {}
    for variable, stays in table.items():
        last = 0
        for start, end, held in stays:
            assert last <= start < end <= size and held, f"{variable} {start:#x}"
            assert start in pcs and (end in pcs or end == size), f"{variable} {start:#x}"
            last = end
            for pc in pcs:
                if start <= pc < end:
                    claimed[pc, variable] = held
    bad = 0
    for (pc, variable), found in sorted(places.items()):
        held = claimed.get((pc, variable), set())
        if variable in table and held != found:
            bad += 1
            print(f"{pc:#x} {variable}: table {sorted(held)}, machine {sorted(found)}")
    if bad or not set(pcs) <= {pc for pc, _ in places}:
        sys.exit(f"FAILED at {bad} points")
    count = sum(variable in table for _, variable in places)
    print(f"OK: {len(table)} variables, {count} (pc, variable) points, "
          f"{len(claimed)} of them with a place, {sum(map(len, claimed.values()))} places")


if __name__ == "__main__":
    main()
