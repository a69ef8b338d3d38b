// Data of the page: tables of numbers, and texts. `block.rs` has the format.

const KINDS = [
  ["nowhere", "–"], ["scalar register", "s"], ["vector register", "v"], ["scratch or stack", "m"],
  ["LDS or shared memory", "L"], ["global memory", "g"], ["constant", "c"], ["computed value", "="],
  ["several locations", "*"], ["unknown", "?"], ["frame rule or lane pcs", "f"],
].map(([name, letter]) => ({ name, letter }));
const LEVELS = ["note", "warning", "error"];
const NONE = 0xffffffff;

// Bytes of a text in base 64. A call for each byte would take seconds for a large page.
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const chars = atob(text), bytes = new Uint8Array(chars.length);
  for (let index = 0; index < chars.length; index++) bytes[index] = chars.charCodeAt(index);
  return bytes;
}

async function unpacked(element) {
  const bytes = decoded(element.textContent);
  if (element.dataset.packing === "none") return bytes.buffer;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Tables in the order of the block, each with its fields.
const FIELDS = {
  page: ["name", "target", "lanes", "width"],
  functions: ["name", "unit", "low", "high", "size", "variables", "lines", "calls", "instructions", "findings",
    "scope", "located", "sound", "code", "offset"],
  variables: ["column", "name", "type", "file", "line", "inlined", "from", "to", "entries", "until"],
  entries: ["start", "end", "place"],
  lines: ["pc", "file", "line"],
  calls: ["ranges", "until", "depth", "name", "line"],
  ranges: ["start", "end"],
  instructions: ["pc", "text"],
  findings: ["code", "level", "variable", "entry", "written", "meant", "evidence", "from", "to"],
  files: ["path", "text"],
  codes: ["name", "title"],
  others: ["code", "level", "variable", "entry", "written", "meant", "evidence", "from", "to"],
  places: ["kind", "label", "expression", "meaning", "result", "steps"],
  steps: ["operation", "stack", "asked"],
};

class Table {
  constructor(words, fields) {
    this.words = words;
    this.fields = fields;
    this.length = words.length / fields.length;
  }
  get(index, field) {
    return this.words[index * this.fields.length + this.fields.indexOf(field)];
  }
  row(index) {
    const at = index * this.fields.length;
    return Object.fromEntries(this.fields.map((field, place) => [field, this.words[at + place]]));
  }
}

function read(buffer) {
  const words = new Uint32Array(buffer, 0, buffer.byteLength >> 2);
  const names = Object.keys(FIELDS), data = {};
  let at = 1 + words[0];
  names.forEach((name, index) => {
    const length = words[1 + index];
    data[name] = new Table(words.subarray(at, at + length), FIELDS[name]);
    at += length;
  });
  data.texts = new TextDecoder().decode(new Uint8Array(buffer, 4 * at)).split("\0");
  data.text = (number) => data.texts[number] ?? "";
  data.start = (f) => BigInt(data.functions.get(f, "high")) << 32n | BigInt(data.functions.get(f, "low"));
  // A pc of a cubin is an offset in the code of a function, `k+0x20`; other pcs are addresses. In a column, the function's
  // name is left out.
  data.offset = (f, pc) => "+0x" + (data.functions.get(f, "offset") + pc).toString(16);
  data.code = (f) => data.text(data.functions.get(f, "code"));
  data.address = (f, pc) => "0x" + (data.start(f) + BigInt(pc)).toString(16);
  data.pc = (f, pc) => data.code(f) ? data.code(f) + data.offset(f, pc) : data.address(f, pc);
  data.shortPc = (f, pc) => data.code(f) ? data.offset(f, pc) : data.address(f, pc);
  data.pcs = (f, start, end) => {
    const code = data.code(f), [from, to] = [start, end].map((pc) => data.shortPc(f, pc));
    return code ? `${code}+[${from.slice(1)}, ${to.slice(1)})` : `${from} to ${to}`;
  };
  // Bytes from the start of a function, from the text of a pc.
  data.bytes = (f, text) => {
    const plus = text.lastIndexOf("+"), number = BigInt(text.slice(plus + 1));
    return Number(plus < 0 ? number - data.start(f) : number - BigInt(data.functions.get(f, "offset")));
  };
  // First and end of the rows of a function, or of another record.
  data.range = (table, index, field) => [data[table].get(index, field), data[table].get(index + 1, field)];
  // First and end of the entries of a variable. Variables that reference the same list share its entries.
  data.entriesOf = (v) => [data.variables.get(v, "entries"), data.variables.get(v, "until")];
  // First and end of the ranges of an inlined call.
  data.rangesOf = (call) => [data.calls.get(call, "ranges"), data.calls.get(call, "until")];
  data.count = data.functions.length - 1;
  return data;
}

// Text with the numbers of a lane: marks are base, step, radix. Lanes 0 and 1 can have texts of their own.
function inLane(text, lane) {
  if (text[0] === "\x03") text = text.split("\x03")[Math.min(lane, 2) + 1];
  return text.replace(/\x01(-?\d+),(-?\d+),(\d+)\x02/g, (_, base, step, radix) => {
    const number = BigInt(base) + BigInt(step) * BigInt(lane);
    return (radix === "16" ? "0x" : "") + number.toString(Number(radix));
  });
}

// First index at which a sorted array has at least a value.
function bound(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}
