# Prints the state of a process with a shared library, and the variables of all frames up to `main`.
import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()

def number(text):
    return int(gdb.parse_and_eval(text)) & (1 << 64) - 1

gdb.execute("set confirm off")
gdb.execute("set breakpoint pending on")
gdb.execute("break stop")
gdb.execute("run")
process = gdb.selected_inferior()

def memory(first, end):
    print("MEMORY %x %s" % (first, process.read_memory(first, end - first).tobytes().hex()))

print("REGISTERS " + " ".join("%x" % number("$" + name) for name in REGISTERS))
known = set()
for line in open("/proc/%d/maps" % process.pid):
    words = line.split()
    first, end = [int(word, 16) for word in words[0].split("-")]
    name = words[5].split("/")[-1] if len(words) > 5 else ""
    if name in ("program", "library.so"):
        if name not in known:
            known.add(name)
            print("BIAS %s %x" % (name, first))
        if "w" in words[1]:
            memory(first, end)
    if name == "[stack]":
        # With the red zone.
        memory(number("$rsp") - 128, end)

def value(value):
    try:
        if value.is_optimized_out:
            return "none"
        return "%x" % (int(value) & (1 << 8 * value.type.sizeof) - 1)
    except gdb.error:
        return "none"

for file in ("main.c", "library.c"):
    print("STATIC %s %s" % (file, value(gdb.parse_and_eval("'%s'::tally" % file))))
level, frame = 0, gdb.newest_frame()
while frame is not None:
    block = frame.block()
    while block.function is None:
        block = block.superblock
    print("FRAME %d %x %s" % (level, frame.pc(), frame.name()))
    for symbol in block:
        if symbol.is_variable or symbol.is_argument:
            print("VARIABLE %d %s %s" % (level, symbol.name, value(symbol.value(frame))))
    if frame.name() == "main":
        break
    level, frame = level + 1, frame.older()
