// The state of the evaluator, and the part of the page's address after `#` that holds it.

const KEYS = { expression: "e", dialect: "d", target: "t", kind: "k", read: "r", machine: "m" };

export const EMPTY = { expression: "", dialect: "llvm", target: "", kind: "location", read: 32, machine: "{}" };

/// Writes a state as the address's fragment. The machine loses its blanks.
export function toFragment(state) {
  const parts = new URLSearchParams();
  for (const [name, key] of Object.entries(KEYS)) {
    if (name === "machine") parts.set(key, compact(state.machine));
    else if (String(state[name]) !== String(EMPTY[name])) parts.set(key, state[name]);
  }
  return `#${parts}`;
}

/// Reads a state from a fragment; `undefined` if it has none.
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  if (!parts.has(KEYS.expression) && !parts.has(KEYS.machine)) return undefined;
  const state = { ...EMPTY };
  for (const [name, key] of Object.entries(KEYS)) {
    if (parts.has(key)) state[name] = parts.get(key);
  }
  state.read = Number.parseInt(state.read, 10) || 0;
  state.machine = spread(state.machine);
  return state;
}

/// Reads a machine's JSON; `undefined` for another text, or with numbers that a script would round.
export function parsed(text) {
  let isExact = true;
  try {
    const machine = JSON.parse(text, (_, value) => {
      if (typeof value === "number" && !Number.isSafeInteger(value)) isExact = false;
      return value;
    });
    const isObject = typeof machine === "object" && machine !== null && !Array.isArray(machine);
    return isObject && isExact ? machine : undefined;
  } catch {
    return undefined;
  }
}

/// Returns the machine in a file that has a target beside it, or the file itself.
export const machineIn = (file) => ("target" in file ? (file.machine ??= {}) : file);

function compact(text) {
  const machine = parsed(text);
  return machine ? JSON.stringify(machine) : text;
}

/// Writes a text in JSON with a line for each register and each part of the memory.
export function spread(text) {
  const machine = parsed(text);
  return machine ? print(machine, "", 2) : text;
}

export const printed = (machine) => print(machine, "", 2);

function print(value, indent, depth) {
  const isNested = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isNested || depth === 0) return inline(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const lines = Object.entries(value).map(([key, item]) => {
    const name = Array.isArray(value) ? "" : `${JSON.stringify(key)}: `;
    return inner + name + print(item, inner, key === "target" ? 0 : depth - 1);
  });
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function inline(value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${inline(item)}`);
  return `{${items.join(", ")}}`;
}
