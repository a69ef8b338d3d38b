# Prints the variables of all frames at each stop, with registers and memory, for a comparison.
import gdb

SCALARS = {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM}
REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()

def number(text):
    return int(gdb.parse_and_eval(text)) & (1 << 64) - 1

def memory(first, end):
    print("MEMORY %x %s" % (first, gdb.selected_inferior().read_memory(first, end - first).tobytes().hex()))

def contents(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_FLT:
        kind = gdb.lookup_type({4: "unsigned int", 8: "unsigned long"}[kind.sizeof])
        # The bits: by way of an array, as a value need not be in memory.
        value = value.cast(gdb.lookup_type("double"))
        import struct
        return struct.unpack("<Q", struct.pack("<d", float(value)))[0]
    if kind.code in SCALARS:
        return int(value) & (1 << 8 * kind.sizeof) - 1
    return None

def variables(frame, level):
    block = frame.block()
    while block is not None and not block.is_static:
        for symbol in block:
            if not (symbol.is_variable or symbol.is_argument) or symbol.addr_class == gdb.SYMBOL_LOC_STATIC:
                continue
            try:
                value = symbol.value(frame)
                value = None if value.is_optimized_out else contents(value)
                text = "other" if value is None and not symbol.value(frame).is_optimized_out else value
                text = "%x" % text if isinstance(text, int) else text or "none"
            except (gdb.error, gdb.MemoryError):
                text = "none"
            print("VARIABLE %d %s %d %s" % (level, symbol.name, symbol.line, text))
        if block.function is not None:
            return
        block = block.superblock

def stop():
    print("STOP " + " ".join("%x" % number("$" + name) for name in REGISTERS))
    for n in range(16):
        print("XMM %x %x" % (number("$xmm%d.v2_int64[0]" % n), number("$xmm%d.v2_int64[1]" % n)))
    memory(number("$rsp"), number("outermost"))
    memory(number("&__data_start"), number("&_end"))
    level, frame = 0, gdb.newest_frame()
    while frame is not None:
        # A tail-call frame is gdb's guess at a function that is no longer on the stack.
        is_there = frame.type() != gdb.TAILCALL_FRAME
        if is_there:
            variables(frame, level)
        if is_there and frame.type() != gdb.INLINE_FRAME:
            print("FRAME %d %x" % (level, frame.pc()))
            level += 1
        if frame.name() == "main":
            break
        frame = frame.older()

gdb.execute("set confirm off")
gdb.execute("break here")
gdb.execute("run")
while gdb.selected_inferior().pid != 0:
    stop()
    gdb.execute("continue")
