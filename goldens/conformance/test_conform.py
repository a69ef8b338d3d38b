#!/usr/bin/env python3
"""Self-test of conform.py, on the files beside it: each expectation is a right answer to itself, and one that differs in
anything is wrong; a file that is not as its page has it is refused."""
import collections, copy, json, pathlib, re, subprocess, sys, tempfile
sys.dont_write_bytecode = True
import conform

HERE = pathlib.Path(__file__).parent

def wrong_answers(vector):
    """Answers that differ from what is expected in one thing."""
    expect, has_none = vector["expect"], {"why", "written", "type"}
    for key in expect.keys() - has_none: yield {other: one for other, one in expect.items() if other != key}
    def with_(**changed): return {**copy.deepcopy(expect), **changed}
    if "error" in expect: yield with_(error="unmapped" if expect["error"] != "unmapped" else "evaluation")
    if "value" in expect: yield with_(value=hex(conform.number(expect["value"]) ^ 1))
    if "value" in expect: yield with_(type="unsigned/77")
    if "pointer" in expect: yield with_(pointer={**expect["pointer"], "offset": expect["pointer"]["offset"] + 1})
    if "location" in expect: yield with_(location="implptr:0x7ffffff1:1")
    if re.match("[0-9a-f]{2}", expect.get("bytes", "")):
        yield with_(bytes=f"{int(expect['bytes'][:2], 16) ^ 0x80:02x}" + expect["bytes"][2:])
    if "bytes" in expect: yield with_(bytes=expect["bytes"] + " 00")
    for place, data in expect.get("written", {}).items():
        if place == "error": yield with_(written={})
        elif place != "why": yield with_(written={**expect["written"], place: f"{int(data[:2], 16) ^ 1:02x}" + data[2:]})
    if "error" not in expect.get("written", ["error"]): yield with_(written={**expect["written"], "mem:0:0xfffffffffff0": "5a"})
    if "rows" in expect:
        yield with_(rows=expect["rows"][1:] + [{"pcs": ["0x0", "0x1"], "cfa": "none", "rules": {}}])
        yield with_(rows=[{**expect["rows"][0], "cfa": "99+99"}] + expect["rows"][1:])
        yield with_(rows=[{**expect["rows"][0], "rules": {"99": "offset(-99)"}}] + expect["rows"][1:])
    if "cfa" in expect: yield with_(cfa="implptr:0x7ffffff1:1")
    if "pc" in expect.get("caller", {}): yield with_(caller={**expect["caller"], "pc": "0x12345678"})
    for key, other in (("registers", "implptr:0x7ffffff1:1"), ("contents", "00 5a 00 5a 00")):
        for register in expect.get("caller", {}).get(key, {}):
            yield with_(caller={**expect["caller"], key: {**expect["caller"][key], register: other}})
    if "outermost" in expect: yield with_(outermost=False)
    # What is not expected of a read or of a frame may be an error.
    is_partial = "cfi" in vector or "read" in vector and expect.keys() == {"location"}
    if "error" not in expect and not is_partial: yield with_(error="evaluation")
    for key in expect.keys() - {"why", "type", "error"}:
        for garbage in ("reg:rax", "(", "0x", "", None, [], {}, [None], {"location": "reg:rax"}, 1.5):
            if key != "written" or garbage != {}: yield with_(**{key: garbage})

counts = collections.Counter()
for path in sorted(HERE.glob("*.json")):
    for vector in conform.read(path):
        right = vector["expect"]
        assert conform.judge(vector, right) == "passed", (path, vector["name"], right)
        counts["right"] += 1
        for answer in (None, [], "reg:0", 5): assert conform.judge(vector, answer) == "failed", (path, vector["name"], answer)
        for text in (hex, str, int):
            pointer = {key: text(conform.number(one)) for key, one in right.get("pointer", {}).items()}
            assert not pointer or conform.judge(vector, {**right, "pointer": pointer}) == "passed", (path, vector["name"], pointer)
        for answer in wrong_answers(vector):
            what = conform.judge(vector, answer)
            assert what != "passed", (path, vector["name"], right, answer)
            is_class = {**right, **answer} != right and answer.get("error") and right.get("error") not in (None, answer["error"])
            assert (what == "wrong error class") == bool(is_class), (path, vector["name"], what, answer)
            counts["wrong"] += 1

# Lines that are no answers: the others are judged.
SAMPLE, GARBAGE = HERE / "sample.json", ["garbage", "null", "[]", "{}", '{"name": []}', '{"name": 5, "answer": {}}']
RIGHT = [json.dumps({"name": vector["name"], "answer": vector["expect"]}) for vector in conform.read(SAMPLE)]
RIGHT[0] = json.dumps({"name": json.loads(RIGHT[0])["name"], "answer": {"location": "reg:rax"}})
COMMAND = [sys.executable, "-B", HERE / "conform.py", "--answers", "-", SAMPLE]
ran = subprocess.run(COMMAND, input="\n".join(GARBAGE + RIGHT), capture_output=True, text=True)
assert ran.returncode == 1 and not ran.stderr and ran.stdout.endswith(f"vectors, 1 failed, {len(RIGHT) - 1} passed\n"), ran

# Two texts for the same places, and for others: over so many bits, or over all that both have.
TARGET = {"address_size": 8, "endian": "little", "registers": [{"dwarf": [0, 1], "bits": 64}]}
for bits, one, other, is_same in [
    (64, "[reg:0/32, undefined/16, reg:1/16]", "[[reg:0/8, reg:0+8/24]/32, [undefined/3]/3, undefined/13, reg:1/16]", True),
    (32, "reg:0", "[reg:0/32, undefined/16]", True), (33, "reg:0", "[reg:0/32, undefined/16]", False),
    (8, "reg:0 | mem:0:0x10", "mem:0:0x10 | reg:0", True), (8, "reg:0 | mem:0:0x10", "reg:0", False),
    (32, "reg:0 | mem:0:0x10", "[(mem:0:0x10 | reg:0)/8, (reg:0+8 | mem:0:0x11)/24]", True),
    (8, "implicit:01", "implicit:0102", True), (16, "implicit:0102", "implicit:02 01", False), (0, "reg:0", "reg:0+1", False),
    (0, "reg:0", "[reg:0/8]", True), (0, "mem:0:0x10", "mem:0:0x8+64", True), (0, "mem:5:0x10@1", "mem:5:0x10@2", False),
    (0, "[]", "[]", True), (0, "[]", "reg:0", False), (0, "implptr:0x40:4", "implptr:0x40:-4", False), (0, "undefined", "reg:1", False),
]:
    assert conform.same(one, other, bits, TARGET) == is_same == conform.same(other, one, bits, TARGET), (bits, one, other)

# Files that are refused: what is wrong is put into one that is right.
GOOD = {"format": "eitri-vectors-1", "vectors": [{"name": "it", "dialect": "dwarf5", "expr": "50", "expect": {"location": "reg:0"}}],
        "target": {"name": "generic", "address_size": 8, "offset_size": 4, "endian": "little", "registers": []}}
for path, value in [
    (["extra"], 1), (["format"], "eitri-vectors-2"), (["target", "extra"], 1), (["target", "name"], "x86_64"), (["machine"], {"pc": 4}),
    (["machine"], {"extra": 1}), (["machine"], {"memory": [{"space": 0, "address": "0x0"}]}), (["vectors", 0, "extra"], 1),
    (["vectors", 0, "expr"], "5"), (["vectors", 0, "loclist"], []), (["vectors", 0, "dialect"], "dwarf7"), (["vectors", 0, "valid_in"], []),
    (["vectors", 0, "expect"], {"location": "rag:0"}), (["vectors", 0, "expect", "extra"], 1), (["vectors", 0, "expect"], {"outermost": False}),
    (["vectors", 0, "expect"], {"bytes": "4"}), (["vectors", 0, "expect"], {"location": "[reg:0/8] 5"}), (["vectors"], GOOD["vectors"] * 2),
    (["vectors", 0, "expect"], {"rows": [{"pcs": ["0x0"], "cfa": "7+8", "rules": {}}]}), (["vectors", 0, "read"], -1),
]:
    bad = copy.deepcopy(GOOD)
    inside = bad
    for key in path[:-1]: inside = inside[key]
    inside[path[-1]] = value
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        for contents, is_good in ((GOOD, True), (bad, False)):
            file.seek(0), file.truncate(), file.write(json.dumps(contents)), file.flush()
            try: list(conform.read(file.name)), is_good or exit(f"{path} {value} is not refused")
            except ValueError as error: assert not is_good, error
    counts["refused files"] += 1
print(", ".join(f"{count} {what}" for what, count in counts.items()))
