"""Reads conformance vectors by the page of their format and its schema alone, and judges answers: see `judge`."""
import argparse, collections, json, pathlib, re, sys

INF, NOWHERE = float("inf"), {("undefined", None, False)}
SCHEMA = json.loads((pathlib.Path(__file__).parent / "schema/eitri-vectors-1.schema.json").read_text())
TYPES, number = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}, lambda value: int(str(value), 0)
VALID_IN = {"dwarf5": ["dwarf5", "stack", "amdgpu"], "llvm": ["amdgpu"], "legacy": ["amdgpu"], "dwarf6": ["dwarf6"]}

def wrong(value, schema):
    """What is wrong with a value, by as much of JSON Schema as the schema uses; None if it is right."""
    if "$ref" in schema: return wrong(value, SCHEMA["$defs"][schema["$ref"].split("/")[-1]])
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if types and type(value) not in [TYPES[one] for one in types] or value not in schema.get("enum", [value]) or (
            value != schema.get("const", value)) or (isinstance(value, str) and not re.search(schema.get("pattern", ""), value)) or (
            isinstance(value, int) and value < schema.get("minimum", value)): return f": {value!r} is not allowed"
    if "anyOf" in schema and all(wrong(value, one) for one in schema["anyOf"]): return f": {value!r} is nothing that is allowed"
    if "oneOf" in schema and sum(not wrong(value, one) for one in schema["oneOf"]) != 1: return f": not one of {schema['oneOf']}"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", INF): return ": another number of items"
        return next((f"[{at}]{what}" for at, one in enumerate(value) if (what := wrong(one, schema.get("items", {})))), None)
    if isinstance(value, dict):
        if missing := set(schema.get("required", [])) - set(value): return f": no {missing}"
        for key, one in value.items():
            known = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            if known is False or not re.search(schema.get("propertyNames", {}).get("pattern", ""), key): return f": unknown key `{key}`"
            if what := wrong(one, known): return f".{key}{what}"

def merged(ours, own):
    """An object of the file, with that of a vector merged into it key by key."""
    out = dict(ours or {}) if own is not None else {}
    for key, new in (own or {}).items():
        old = out.pop(key, None)
        if key == "memory" and new is not None: new = (old or []) + new
        if key in ("registers", "types", "entries") and isinstance(new, dict): new = {**(old or {}), **new}
        if new is not None: out[key] = {k: one for k, one in new.items() if one is not None} if isinstance(new, dict) else new
    return out

def read(path):
    """The vectors of a file, each with its target and its machine."""
    file, names = json.loads(pathlib.Path(path).read_text()), set()
    if what := wrong(file, SCHEMA): raise ValueError(f"{path}{what}")
    for vector in file["vectors"]:
        own, known = vector.get("target", {}), {"generic": {}, **file.get("targets", {})}
        target = merged({} if own and own.get("name") else file.get("target"), own)
        if vector["name"] in names or names.add(vector["name"]) or target.get("name") not in known:
            raise ValueError(f"{path}: {vector['name']}: another vector has the name, or its target is not in the file")
        for key in vector["expect"].keys() & {"location", "cfa"}: parse(vector["expect"][key])
        yield {**vector, "target": {**known[target["name"]], **target}, "machine": merged(file.get("machine"), vector.get("machine", {}))}

def parse(text):
    """A LOCATION: places, each a kind of storage, which one of it, and bits from its start."""
    tokens = re.findall(r"implicit:(?:[0-9a-fA-F]{2} *)*|[\w:@-]+|\S", text) + [""]
    def location():
        places = [place()]
        while tokens[0] == "|": tokens.pop(0), places.append(place())
        return places
    def place():
        (kind, _, rest), one, shift = tokens.pop(0).partition(":"), None, 0
        if kind == "[":
            kind, one = "parts", []
            while tokens[0] != "]":
                part = (tokens.pop(0), location(), tokens.pop(0))[1] if tokens[0] == "(" else [place()]
                tokens.pop(0), one.append((part, number(tokens.pop(0)))), tokens[0] == "," and tokens.pop(0)
            tokens.pop(0)
        elif kind == "mem":
            space, address, lane = re.fullmatch(r"(\w+):(\w+)(?:@(\w+))?", rest).groups()
            one, shift = (number(space), lane and number(lane)), number(address) * 8
        elif kind == "reg": one = number(rest)
        elif kind == "implicit": one = bytes.fromhex(rest)
        elif kind == "implptr": one = tuple(map(number, rest.split(":")))
        elif kind != "undefined": raise ValueError(f"{text}: `{kind}` is no location")
        while tokens[0] == "+": shift += (tokens.pop(0), number(tokens.pop(0)))[1]
        return kind, one, shift
    if (found := location()) and tokens != [""]: raise ValueError(f"{text}: `{tokens[0]}` follows")
    return found

def at(places, offset, target):
    """The storage and bit there in each place, and how many bits it goes on so; no place if one has no such bit."""
    found, run = set(), INF
    for kind, one, shift in places:
        bit, size = shift + offset, 8 * number(target["address_size"]) if kind == "implptr" else INF
        if kind == "reg":
            ranges = [(r["dwarf"] if isinstance(r["dwarf"], list) else [r["dwarf"]] * 2, r["bits"]) for r in target["registers"]]
            size = next((number(bits) for (first, last), bits in ranges if number(first) <= one <= number(last)), 0)
        if kind in ("parts", "implicit"): size = sum(bits for _, bits in one) if kind == "parts" else 8 * len(one)
        if bit >= size: return None, INF
        run = min(run, size - bit)
        if kind == "implicit": found, run = found | {(one[bit // 8] >> (7 - bit % 8 if target["endian"] == "big" else bit % 8) & 1)}, 1
        elif kind != "parts": found.add((kind, one, kind != "undefined" and bit))
        else:
            while bit >= one[0][1]: bit, one = bit - one[0][1], one[1:]
            inner, more = at(one[0][0], bit, target)
            if inner is None: return None, INF
            found, run = found | inner, min(run, more, one[0][1] - bit)
    return found, run

def same(expected, found, bits, target):
    """Whether both name the same places, over so many bits; over all that both have if there are none to read."""
    left, right, offset = parse(expected), parse(found), 0
    while offset < (bits or INF):
        (one, run), (other, more) = at(left, offset, target), at(right, offset, target)
        if not bits and (one is None or other is None): return offset > 0 or left == right
        if (one or NOWHERE) != (other or NOWHERE) or min(run, more) == INF: return (one or NOWHERE) == (other or NOWHERE)
        offset += min(run, more)
    return True

def after(machine, changes):
    """Registers and memory, with bytes put in."""
    state = {number(reg): bytes.fromhex(data) for reg, data in machine.get("registers", {}).items()}
    memory = [((number(m["space"]), m.get("lane")), number(m["address"]), m["bytes"]) for m in machine.get("memory", [])]
    for (kind, one, shift), data in [(parse(place)[0], data) for place, data in changes.items()]:
        state.update({one: bytes.fromhex(data)}) if kind == "reg" else memory.append((one, shift // 8, data))
    return {**state, **{(one, to + i): byte for one, to, data in memory for i, byte in enumerate(bytes.fromhex(data))}}

def judge(vector, answer):
    """`passed`, `failed` or `wrong error class`, of an object with the keys of `expect`."""
    expect, target, machine, answer = *map(vector.get, ["expect", "target", "machine"]), answer if isinstance(answer, dict) else {}
    if expect.get("error") and answer.get("error", expect["error"]) != expect["error"]: return "wrong error class"
    bits = lambda text: [b or "-" * 8 if not h else f"{int(h, 16):08b}" for b, h in re.findall("b:(.{8})|--|([0-9a-fA-F]{2})", text)]
    equal, plain = lambda one, other: one == other, lambda text: text.lower().replace(" space 0", "").replace(" ", "")
    row = lambda row: ([*map(number, row["pcs"])], plain(row["cfa"]), {number(reg): plain(rule) for reg, rule in row["rules"].items()})
    kind = lambda ty: ty and (ty if isinstance(ty, str) else f"{ty['encoding']}/{ty['bits']}" + ("vector" in ty) * f"x{ty.get('vector')}")
    rules = {"error": equal, "outermost": equal, "location": lambda one, other: same(one, other, number(vector.get("read", 0)), target),
        "bytes": lambda one, other: bits(one) == bits(other), "pointer": lambda one, other: [*map(number, one.values())] == [number(other[key]) for key in one],
        "value": lambda one, other: number(one) == number(other) and kind(expect.get("type")) == kind(answer.get("type")),
        "written": lambda one, other: one["error"] == other.get("error") if "error" in one else
            "error" not in other and after(machine, one) == after(machine, other),
        "rows": lambda one, other: [*map(row, one)] == [*map(row, other)], "cfa": lambda one, other: same(one, other, 0, target),
        "caller": lambda one, other: number(one.get("pc", 0)) in (0, number(other["pc"])) and all(
            number(reg) in (found := {number(k): x for k, x in other[key].items()}) and rule(one[key][reg], found[number(reg)])
            for key, rule in (("registers", rules["cfa"]), ("contents", rules["bytes"])) for reg in one.get(key, {}))}
    is_partial = "cfi" in vector or "read" in vector and expect.keys() == {"location"}
    judged = {*expect, "error"} if answer.get("error") and not is_partial else expect
    try: return "passed" if all(rules[key](expect[key], answer[key]) for key in rules if key in judged) else "failed"
    except Exception: return "failed"  # A key is missing, is not expected or cannot be read.

if __name__ == "__main__":
    options = argparse.ArgumentParser(description="Checks the format of files of vectors, and judges answers to them.")
    options.add_argument("--valid-in", help="only vectors that hold in a document, such as dwarf5")
    options.add_argument("--answers", help="lines of {\"name\": ..., \"answer\": {keys of `expect`}}; - is the standard input")
    options.add_argument("files", nargs="+")
    given, answers, documents = options.parse_args(), {}, lambda v: [None, *v.get("valid_in", VALID_IN[v["dialect"]])]
    vectors = {v["name"]: v for path in given.files for v in read(path) if given.valid_in in documents(v)}
    for line in (sys.stdin if given.answers == "-" else open(given.answers)) if given.answers else []:
        try: answers.update({(one := json.loads(line))["name"]: one.get("answer")})
        except Exception: print(f"not an answer: {line.rstrip()}")
    found = {name: judge(v, answers[name]) if name in answers else "no answer" for name, v in vectors.items()} if given.answers else {}
    for name in [name for name in found if found[name] != "passed"]: print(f"{name}: {found[name]}: {json.dumps(vectors[name]['expect'])}")
    print(f"{len(vectors)} vectors", *(f", {count} {what}" for what, count in sorted(collections.Counter(found.values()).items())), sep="")
    sys.exit(any(what != "passed" for what in found.values()))
