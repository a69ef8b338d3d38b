"""A module with the functions of the playground's, whose evaluation of a long question ends in a trap.

After a trap, the same instance only traps: an answer shows that the page made a new instance.
"""

MESSAGE = b'{"message": "a short question", "version": "0", "targets": [], "lanes": 1, "registers": []}'
# More than the question about an empty expression, and fewer than that about one of 600 letters.
LONG = 500


def leb(number):
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


def vector(items):
    return leb(len(items)) + b"".join(items)


def section(number, contents):
    return bytes([number]) + leb(len(contents)) + contents


def signed(number):
    """A number up to 8191 as signed LEB128."""
    return bytes([number & 127 | 128, number >> 7]) if number > 63 else bytes([number])


def body(code):
    whole = b"\0" + code + b"\x0b"
    return leb(len(whole)) + whole


def name(text):
    return leb(len(text)) + text.encode()


def module():
    number, nothing, pair = 0x7F, 0x40, 2
    types = [b"\x60\0" + bytes([1, number]), b"\x60" + bytes([pair, number, number, 1, number])]
    succeed = body(b"\x41\0")
    # reserve: keeps the size of the question, number 0; returns 4096.
    reserve = body(b"\x20\0\x45\x04" + bytes([nothing]) + b"\x20\x01\x24\0\x0b" + b"\x41" + signed(4096))
    # evaluate: a long question, or a trap before, is a trap; otherwise an error, whose message is the output.
    evaluate = body(b"\x23\0\x41" + signed(LONG) + b"\x4a\x23\x01\x72\x04" + bytes([nothing]) + b"\x41\x01\x24\x01\0\x0b" + b"\x41\x01")
    result = body(b"\x41" + signed(16))
    size = body(b"\x41" + signed(len(MESSAGE)))
    functions = {"names": (0, succeed), "target": (0, succeed), "reserve": (1, reserve), "evaluate": (0, evaluate),
                 "result": (0, result), "result_size": (0, size)}
    mutable = bytes([number, 1]) + b"\x41\0\x0b"
    exports = [name("memory") + b"\x02\0"] + [name(key) + b"\0" + leb(index) for index, key in enumerate(functions)]
    return b"\0asm\x01\0\0\0" + b"".join([
        section(1, vector(types)),
        section(3, vector([bytes([kind]) for kind, _ in functions.values()])),
        section(5, vector([b"\0\x01"])),
        section(6, vector([mutable, mutable])),
        section(7, vector(exports)),
        section(10, vector([code for _, code in functions.values()])),
        section(11, vector([b"\0\x41" + signed(16) + b"\x0b" + leb(len(MESSAGE)) + MESSAGE])),
    ])
