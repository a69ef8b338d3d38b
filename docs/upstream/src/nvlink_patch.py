import struct, sys
source, output, section, offset, value = sys.argv[1:6]
data = bytearray(open(source, "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
shnum, shstrndx = struct.unpack_from("<HH", data, 60)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(shnum)]
names = headers[shstrndx]
for h in headers:
    start = names[4] + h[0]
    if data[start:data.index(0, start)].decode() == section:
        at = h[4] + (data.index(0, h[4]) + 1 - h[4] if offset == "count" else int(offset, 0))
        new = bytes.fromhex(value)
        print(f"{section}+{at - h[4]:#x}: {data[at:at + len(new)].hex()} -> {value}")
        data[at:at + len(new)] = new
open(output, "wb").write(data)
