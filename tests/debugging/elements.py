# Prints registers, the stack, and the arrays of the frame that called `stop`, with sizes and values.
import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
gdb.execute("set confirm off")
gdb.execute("break stop")
gdb.execute("run")
gdb.execute("up")
print("REGISTERS " + " ".join("%x" % (int(gdb.parse_and_eval("$" + name)) & (1 << 64) - 1) for name in REGISTERS))
process = gdb.selected_inferior()
for line in open("/proc/%d/maps" % process.pid):
    words = line.split()
    if words[-1] == "[stack]":
        first, end = int(gdb.parse_and_eval("(unsigned long)$rsp")), int(words[0].split("-")[1], 16)
        print("MEMORY %x %s" % (first, process.read_memory(first, end - first).tobytes().hex()))

def show(value):
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
        first, last = value.type.strip_typedefs().range()
        return [number for index in range(first, last + 1) for number in show(value[index])]
    return [int(value)]

for name in ("plain", "long_rows", "square", "aliased"):
    value = gdb.parse_and_eval(name)
    counts, ty = [], value.type.strip_typedefs()
    while ty.code == gdb.TYPE_CODE_ARRAY:
        counts.append(ty.range()[1] + 1)
        ty = ty.target().strip_typedefs()
    print("ARRAY %s %s %s" % (name, ",".join(map(str, counts)), ",".join(map(str, show(value)))))
