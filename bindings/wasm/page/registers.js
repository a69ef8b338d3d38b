// The table of registers: another view of the machine's JSON. A change of either changes the other.

import { byId, make } from "./dom.js";
import { machineIn, parsed, printed } from "./state.js";

const bytes = (text) => text.replace(/\s+/g, "").match(/../g) ?? [];
const isBytes = (text) => /^([0-9a-f]{2})*$/i.test(text.replace(/\s+/g, ""));

/// Returns the offset and the size, in bytes, of the number that the table shows of a register: the whole register, or in
/// a vector register the element of the lane in focus. `undefined` for other wide registers.
function place(bits, target, lane) {
  if (bits === undefined) return undefined;
  if (bits <= 64) return [0, Math.ceil(bits / 8)];
  return target.lanes > 1 && bits === 32 * target.lanes && lane < target.lanes ? [4 * lane, 4] : undefined;
}

function number(text, [offset, size]) {
  const part = bytes(text).slice(offset, offset + size);
  return part.length < size ? "" : `0x${part.reverse().join("").replace(/^0+(?=.)/, "")}`;
}

/// Returns a register's bytes with another number at a place, a negative one in two's complement; `undefined` if the number
/// does not fit.
function changed(text, [offset, size], typed) {
  const [, minus, magnitude] = /^\s*([-\u2212]?)\s*(\w+)\s*$/.exec(typed) ?? [];
  let value;
  try {
    // An empty text would be 0.
    value = BigInt(magnitude ?? "none");
  } catch {
    return undefined;
  }
  const limit = 1n << BigInt(8 * size);
  if (minus ? value > limit / 2n : value >= limit) return undefined;
  if (minus) value = BigInt.asUintN(8 * size, -value);
  const all = bytes(text);
  while (all.length < offset + size) all.push("00");
  const digits = value.toString(16).padStart(2 * size, "0");
  bytes(digits).reverse().forEach((byte, index) => { all[offset + index] = byte; });
  return all.join(" ");
}

/// Draws the table for a machine and a target: its `lanes` and `registers`, or nothing that is known of it. Cells with the
/// focus stay as they are typed.
export function drawRegisters(target, onChange) {
  const area = byId("machine");
  const file = parsed(area.value);
  const rows = byId("registers").tBodies[0];
  byId("table-note").textContent = file ? "" : "The table needs a machine in JSON, with numbers above 53 bits as text.";
  byId("add").disabled = !file;
  byId("lane").disabled = !file;
  if (!file) {
    rows.replaceChildren();
    return;
  }
  const machine = machineIn(file);
  const lane = Number(machine.lane ?? 0);
  if (document.activeElement !== byId("lane")) byId("lane").value = machine.lane ?? "";
  const sizes = new Map(target.registers);
  byId("of-lane").textContent = target.lanes > 1 ? `in lane ${lane}` : "";
  const set = (change) => edit((machine) => { machine.registers = change(machine.registers ?? {}); }, onChange);
  const replace = (name, value) => set((registers) => ({ ...registers, [name]: value }));
  const rename = (name, other) => set((registers) => Object.fromEntries(
    Object.entries(registers).map(([key, value]) => [key === name ? other : key, value])));
  const registers = Object.entries(machine.registers ?? {});
  const isTyping = rows.contains(document.activeElement);
  const old = [...rows.rows].map((row) => row.dataset.name).join("\n");
  if (isTyping && old === registers.map(([name]) => name).join("\n")) {
    // The same rows: a cell that is typed in keeps its text and the cursor.
    registers.forEach(([name, value], index) => {
      const [, shown, spelled] = rows.rows[index].querySelectorAll("input");
      const where = place(sizes.get(name), target, lane);
      if (shown !== document.activeElement) shown.value = where ? number(String(value), where) : "";
      if (spelled !== document.activeElement) spelled.value = value;
    });
    return;
  }
  rows.replaceChildren(...registers.map(([name, value]) => {
    const where = place(sizes.get(name), target, lane);
    const text = String(value);
    const field = (label, properties, oninput, onchange) => make("td", {}, make("input", {
      ...properties, ariaLabel: `${label} of ${name}`, spellcheck: false, autocapitalize: "off", oninput, onchange,
    }));
    const row = make("tr", { "data-name": name },
      field("Name", { value: name, className: "name" }, undefined, (event) => event.target.value && rename(name, event.target.value)),
      field("Number", { value: where ? number(text, where) : "", disabled: !where, className: "number" }, ({ target: cell }) => {
        const typed = changed(String(machineIn(parsed(area.value) ?? {}).registers?.[name] ?? ""), where, cell.value);
        const bits = 8 * where[1];
        cell.setCustomValidity(typed === undefined ? `not a number of ${bits} bits: -2^${bits - 1} to 2^${bits} - 1` : "");
        if (typed !== undefined) replace(name, typed);
      }),
      field("Bytes", { value: text, className: "bytes" }, ({ target: cell }) => {
        cell.setCustomValidity(isBytes(cell.value) ? "" : "not a list of bytes in hexadecimal digits");
        if (isBytes(cell.value)) replace(name, cell.value);
      }),
      make("td", {}, make("button", {
        type: "button", textContent: "×", title: `Remove ${name}`, ariaLabel: `Remove ${name}`,
        onclick: () => set((registers) => Object.fromEntries(Object.entries(registers).filter(([key]) => key !== name))),
      })));
    return row;
  }));
}

/// Adds the first register of the target that the machine does not have, with zeros.
export function addRegister(target, onChange) {
  edit((machine) => {
    const registers = machine.registers ?? {};
    const [name, bits] = target.registers.find(([name]) => !(name in registers) && name !== "pc") ?? ["0", 32];
    machine.registers = { ...registers, [name]: Array(Math.ceil(bits / 8)).fill("00").join(" ") };
  }, onChange);
  byId("registers").tBodies[0].lastElementChild?.querySelector("input").select();
}

/// Sets the lane in focus; an empty text removes it.
export function setLane(text, onChange) {
  edit((machine) => {
    if (text === "") delete machine.lane;
    else machine.lane = Number(text);
  }, onChange);
}

/// Changes the machine's JSON.
function edit(change, onChange) {
  const area = byId("machine");
  const file = parsed(area.value);
  if (!file) return;
  change(machineIn(file));
  area.value = printed(file);
  onChange();
}
