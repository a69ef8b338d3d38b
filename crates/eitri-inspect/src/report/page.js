// Selection, panels, keys and links.

const data = read(await unpacked(document.getElementById("data")));
const by = (id) => document.getElementById(id);
const state = { f: null, v: null, e: null, pc: null, lane: 0, code: null };
const timeline = new Timeline((v, e, pc) => select({ v, e: v !== null && e === null ? nearest(v, 0) : e, pc }));
const lanes = data.page.get(0, "lanes");

// A long list of which the seen part is drawn.
function list(root, height, make) {
  const inner = el("div", { class: "inner" });
  let count = 0;
  const draw = () => {
    const first = Math.max(0, Math.floor(root.scrollTop / height) - 5);
    const end = Math.min(count, first + Math.ceil(root.clientHeight / height) + 10);
    const rows = [];
    for (let index = first; index < end; index++) {
      const row = make(index);
      row.style.top = px(index * height);
      rows.push(row);
    }
    inner.replaceChildren(...rows);
  };
  root.replaceChildren(inner);
  root.addEventListener("scroll", () => requestAnimationFrame(draw));
  new ResizeObserver(draw).observe(root);
  return {
    draw,
    fill(length) { count = length; inner.style.height = px(length * height); draw(); },
    reveal(index) {
      const y = index * height;
      if (y < root.scrollTop || y + height > root.scrollTop + root.clientHeight) {
        root.scrollTop = y - root.clientHeight / 3;
      }
      draw();
    },
  };
}

// Functions, with the part of the scopes in which variables have a location.
let functions = [];
const codesOf = Array.from({ length: data.count }, (_, f) => {
  const [from, to] = data.range("functions", f, "findings"), codes = new Map();
  for (let index = from; index < to; index++) {
    const { code, level } = data.findings.row(index);
    codes.set(code, { level, count: (codes.get(code)?.count ?? 0) + 1 });
  }
  return codes;
});
const nav = list(by("functions"), 46, (index) => {
  const f = functions[index], { name, scope, located, sound } = data.functions.row(f);
  const part = (bytes) => scope ? `${Math.min(100, Math.round(100 * bytes / scope))} %` : "–";
  const errors = [...codesOf[f].values()].reduce((sum, one) => sum + (one.level === 2 ? one.count : 0), 0);
  return el("button", { class: "function", "aria-current": f === state.f, onclick: () => open(f) },
    el("b", {}, data.text(name) || "(no name)"),
    el("small", {}, `${part(located)} located, ${part(sound)} sound${errors ? `, ${errors} E` : ""}`));
});

// Lines of the source beside the timeline.
let source = { file: 0, lines: [], code: new Map() };
const text = list(by("source"), 18, (index) => {
  const pc = source.code.get(index + 1), isCurrent = index + 1 === source.current;
  return el("div", {
    class: `text ${pc !== undefined ? "coded" : ""}`, "aria-current": isCurrent && "true",
    onclick: () => pc !== undefined && select({ v: state.v, e: null, pc }),
  }, el("span", {}, index + 1), source.lines[index]);
});

function showSource(line) {
  const file = line?.file ?? source.file;
  if (file !== source.file || source.f !== state.f) {
    const content = data.text(data.files.get(file, "text")), code = new Map();
    const [from, to] = data.range("functions", state.f, "lines");
    for (let index = from; index < to; index++) {
      const row = data.lines.row(index);
      if (row.file === file && !code.has(row.line)) code.set(row.line, row.pc);
    }
    source = { f: state.f, file, code, lines: content ? content.split("\n") : [] };
    document.body.classList.toggle("no-source", !content);
    text.fill(source.lines.length);
  }
  source.current = line?.line;
  if (line) text.reveal(line.line - 1);
}

function open(f, rest = {}) {
  const isNew = f !== state.f || state.shownCode !== state.code;
  if (isNew) {
    Object.assign(state, { f, v: null, e: null, pc: null, shownCode: state.code });
    timeline.show(new Shown(data, f, state.code));
    nav.reveal(functions.indexOf(f));
    showSource(timeline.shown.lineAt(0));
  }
  select(rest);
}

function select({ v = null, e = null, pc = null }) {
  // Without a pc, as in a link to a variable, the first location is meant.
  if (v !== null && e === null) e = pc !== null ? entryAt(v, pc) : nearest(v, 0);
  if (e !== null) pc = pc ?? data.entries.get(e, "start");
  Object.assign(state, { v, e, pc });
  Object.assign(timeline, { variable: v, entry: e, pc, lane: state.lane });
  timeline.reveal(v, pc);
  if (pc !== null) showSource(timeline.shown.lineAt(pc));
  details();
  const parts = [`f=${state.f}`];
  if (v !== null) parts.push(`v=${v - timeline.shown.first}`);
  if (pc !== null) parts.push(`pc=${data.hex(state.f, pc)}`);
  if (state.lane) parts.push(`lane=${state.lane}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

// The entry of a variable at a pc.
function entryAt(v, pc) {
  const [from, to] = data.entriesOf(v);
  for (let e = from; e < to; e++) {
    const { start, end } = data.entries.row(e);
    if (start <= pc && pc < end) return e;
  }
  return null;
}

// The entry of a variable at a pc; else the first after it, or the last one.
function nearest(v, pc) {
  const [from, to] = data.entriesOf(v);
  let later = from;
  while (later < to - 1 && data.entries.get(later, "start") <= pc) later++;
  return entryAt(v, pc) ?? (to > from ? later : null);
}

function finding(table, index) {
  const one = table.row(index), level = LEVELS[one.level];
  const evidence = data.text(one.evidence).split("\n").filter(Boolean);
  return el("li", { class: `finding ${level}` },
    el("p", {}, el("i", { class: level }, level), " ", el("code", {}, data.text(data.codes.get(one.code, "name"))), ": ",
      data.text(data.codes.get(one.code, "title"))),
    el("dl", {}, ...[["written", one.written], ["meant", one.meant]].filter((pair) => pair[1]).flatMap(([name, value]) =>
      [el("dt", {}, name), el("dd", {}, data.text(value))]),
    ...evidence.flatMap((value) => [el("dt", {}, "evidence"), el("dd", {}, value)])));
}

// A list of findings that begins with a few: an object can have thousands outside functions.
function firstFindings(table, few = 20, more = 200) {
  const items = el("ul", {}), button = el("button", { onclick: () => extend(more) });
  let next = 0;
  const extend = (count) => {
    const end = Math.min(next + count, table.length);
    for (; next < end; next += 1) items.append(finding(table, next));
    button.textContent = `Show more (${table.length - next})`;
    button.hidden = next === table.length;
  };
  extend(few);
  return [items, button];
}

// Expression with the operations at fault marked.
function expression(value, findings) {
  const fault = findings.map((one) => data.findings.row(one)).find((one) => one.to > one.from);
  if (!fault || fault.to - fault.from === value.length) return el("code", { class: "expression" }, value);
  return el("code", { class: "expression" }, value.slice(0, fault.from),
    el("mark", {}, value.slice(fault.from, fault.to)), value.slice(fault.to));
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Figure of an evaluation: for each operation, the stack after it, which grows upwards.
function figure(all) {
  const wide = 166, high = 20, bottom = high * Math.max(...all.map(({ stack }) => stack.length));
  const columns = all.flatMap(({ operation, stack }, number) => {
    const x = number * wide;
    const cells = stack.toReversed().map((one, place) => {
      const y = bottom - high * (place + 1), top = place === stack.length - 1 ? "top" : "";
      return svg("g", { class: top }, svg("title", {}, one), svg("rect", { x: x + 2, y: y + 1, width: wide - 6, height: high - 3 }),
        svg("text", { x: x + 7, y: y + 14 }, one.length > 22 ? `${one.slice(0, 21)}…` : one));
    });
    return [...cells, svg("text", { x: x + 4, y: bottom + 16, class: "operation" }, operation)];
  });
  const size = { width: wide * all.length, height: bottom + 22 };
  return el("div", { class: "figure", tabindex: 0 },
    svg("svg", { ...size, role: "img", "aria-label": "The stack after each operation; the table below has the same." }, ...columns));
}

// Steps of the evaluation: the stack after each operation.
function steps(place) {
  const [from, to] = data.range("places", place, "steps"), rows = [], all = [];
  for (let index = from; index < to; index++) {
    const { operation, stack, asked } = data.steps.row(index);
    const parts = (number) => inLane(data.text(number), state.lane).split("\n").filter(Boolean);
    all.push({ operation: data.text(operation), stack: parts(stack) });
    rows.push(el("tr", {}, el("td", {}, el("code", {}, data.text(operation))),
      el("td", {}, ...parts(stack).map((one) => el("span", { class: "element" }, one))),
      el("td", {}, ...parts(asked).map((one) => el("span", { class: "asked" }, one)))));
  }
  if (!rows.length) return "";
  const table = el("table", { class: "steps" }, el("caption", {}, "Steps, on a machine with made-up contents"),
    el("thead", {}, el("tr", {}, ...["operation", "stack, top first", "read"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows));
  return el("div", {}, figure(all), table);
}

function details() {
  const { f, v, e } = state, { shown } = timeline, panel = by("details");
  const name = data.text(data.functions.get(f, "name"));
  const of = (key) => shown.of(key).map((index) => finding(data.findings, index));
  if (v === null) {
    const size = data.functions.get(f, "size");
    panel.replaceChildren(el("h2", {}, name || "(no name)"),
      el("p", {}, `${data.text(data.functions.get(f, "unit"))}, ${data.hex(f, 0)} to ${data.hex(f, size)}`),
      el("ul", {}, ...of("f")), ...data.others.length ? [el("h3", {}, "Findings outside functions"), ...firstFindings(data.others)] : []);
    announce(name);
    return;
  }
  const variable = data.variables.row(v), type = data.text(variable.type);
  const parts = [el("h2", {}, data.text(variable.name)), el("p", {}, type,
    variable.inlined ? `, in ${data.text(variable.inlined)}` : "",
    variable.line ? `, ${data.text(data.files.get(variable.file, "path")).split("/").pop()}:${variable.line}` : "")];
  const findings = e === null ? [] : shown.of(`e${e}`);
  if (e !== null) {
    const { start, end, place } = data.entries.row(e), one = data.places.row(place);
    const pcs = `${data.hex(f, start)} to ${data.hex(f, end)}`, kind = KINDS[one.kind].name;
    const result = inLane(data.text(one.result), state.lane), isOfLane = /[\x01\x03]/.test(data.text(one.result));
    const rows = [["pcs", pcs], ["kind", kind], ["expression", expression(data.text(one.expression), findings)],
      ["meaning", data.text(one.meaning)],
      ["result", el("span", { id: "result" }, isOfLane ? `${result} (lane ${state.lane})` : result)]];
    const full = rows.filter(([, value]) => value.textContent ?? value);
    parts.push(el("dl", {}, ...full.flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, value)])));
    announce([data.text(variable.name), `${kind} ${data.text(one.label)}`.trim(), pcs, data.text(one.expression)].join(", "));
  } else {
    const [from, to] = data.entriesOf(v);
    const where = to === from ? "in this object" : `at ${data.hex(f, state.pc ?? 0)}`;
    parts.push(el("p", {}, `No location ${where}.`));
    announce(`${data.text(variable.name)}, no location ${where}`);
  }
  const whole = shown.of(`v${v}`).filter((index) => data.findings.get(index, "entry") === NONE);
  parts.push(el("ul", {}, ...[...findings, ...whole].map((index) => finding(data.findings, index))));
  if (e !== null) parts.push(steps(data.entries.get(e, "place")));
  panel.replaceChildren(...parts);
}

function announce(text) { by("status").textContent = text; }

// Moves the selection by entries and by variables.
function move(by_entries, by_variables) {
  const { columns } = timeline.shown;
  if (!columns.length) return;
  if (state.v === null) return select({ v: columns[0], e: nearest(columns[0], state.pc ?? 0) });
  if (by_variables) {
    const v = columns[Math.min(Math.max(columns.indexOf(state.v) + by_variables, 0), columns.length - 1)];
    return select({ v, e: nearest(v, state.pc ?? 0), pc: null });
  }
  const [from, to] = data.entriesOf(state.v);
  if (to > from) select({ v: state.v, e: Math.min(Math.max((state.e ?? from - by_entries) + by_entries, from), to - 1) });
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select");
  if (event.key === "/" && !isTyping) by("search").focus();
  else if (event.key === "Escape") close();
  else if (event.key in ARROWS && event.target === timeline.root) move(...ARROWS[event.key]);
  else if (event.key === "Enter" && event.target === timeline.root) by("details").focus();
  else return;
  event.preventDefault();
});

function close() {
  const isPanel = by("details").contains(document.activeElement);
  by("results").hidden = true;
  timeline.root.focus();
  if (!isPanel) select({});
}

// Search in the names of functions and variables.
function found(words) {
  const all = [], has = (number) => data.text(number).toLowerCase().includes(words);
  for (let f = 0; f < data.count && all.length < 50; f++) {
    if (has(data.functions.get(f, "name"))) all.push({ f });
    const [first, end] = data.range("functions", f, "variables");
    for (let v = first; v < end && all.length < 50; v++) if (has(data.variables.get(v, "name"))) all.push({ f, v });
  }
  return all;
}

by("search").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase(), results = by("results");
  results.hidden = !words;
  results.replaceChildren(...(words ? found(words) : []).map(({ f, v }) => {
    const name = data.text(data.functions.get(f, "name"));
    const go = () => { results.hidden = true; state.code = null; fill(); open(f, v === undefined ? {} : { v, e: nearest(v, 0) }); timeline.root.focus(); };
    return el("li", {}, el("button", { onclick: go }, v === undefined ? name : `${data.text(data.variables.get(v, "name"))} in ${name}`));
  }));
  if (words && !results.children.length) results.append(el("li", {}, "nothing has this name"));
});
by("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") by("results").querySelector("button")?.click();
});

// Fills the list of functions, and the filter.
function fill() {
  functions = [...codesOf.keys()].filter((f) => state.code === null || codesOf[f].has(state.code));
  by("filter").value = state.code ?? "";
  nav.fill(functions.length);
}
by("filter").addEventListener("change", (event) => {
  state.code = event.target.value === "" ? null : Number(event.target.value);
  fill();
  if (functions.length) open(functions.includes(state.f) ? state.f : functions[0]);
});
by("lane").addEventListener("input", (event) => {
  state.lane = Number(event.target.value);
  by("lane-number").textContent = state.lane;
  select(state);
});

function follow() {
  const part = (name) => new RegExp(`[#&]${name}=(0x[0-9a-f]+|\\d+)`, "i").exec(location.hash)?.[1];
  const f = Number(part("f") ?? 0);
  if (!(f < data.count)) return;
  state.lane = Math.min(Number(part("lane") ?? 0), Math.max(0, lanes - 1));
  by("lane").value = by("lane-number").textContent = state.lane;
  const [first, end] = data.range("functions", f, "variables"), v = first + Number(part("v") ?? NaN);
  const pc = part("pc") && Number(BigInt(part("pc")) - data.start(f));
  open(f, { v: v < end ? v : null, pc: pc >= 0 ? pc : null });
}
addEventListener("hashchange", follow);

// A printed page has the timeline's beginning and a table of the entries.
addEventListener("beforeprint", () => {
  if (state.f === null) return;
  timeline.isPrinted = true;
  timeline.draw();
  const [first, end] = data.range("functions", state.f, "variables"), rows = [];
  for (let v = first; v < end; v++) {
    const [from, to] = data.entriesOf(v);
    for (let e = from; e < to && rows.length < 5000; e++) {
      const { start, end: until, place } = data.entries.row(e), one = data.places.row(place);
      const codes = timeline.shown.of(`e${e}`).map((index) => data.text(data.codes.get(data.findings.get(index, "code"), "name")));
      rows.push(el("tr", {}, ...[data.text(data.variables.get(v, "name")), `${data.hex(state.f, start)} to ${data.hex(state.f, until)}`,
        KINDS[one.kind].name, data.text(one.expression), data.text(one.meaning), codes.join(", ")].map((cell) => el("td", {}, cell))));
    }
  }
  by("printed").replaceChildren(el("table", {}, el("thead", {}, el("tr", {},
    ...["variable", "pcs", "kind", "expression", "meaning", "findings"].map((name) => el("th", {}, name)))), el("tbody", {}, ...rows)));
});
addEventListener("afterprint", () => {
  timeline.isPrinted = false;
  by("printed").replaceChildren();
  timeline.draw();
});

by("title").textContent = by("title").title = data.text(data.page.get(0, "name"));
by("title").textContent = by("title").title.replace(/^.*\/(?=[^/(]*(\(|$))/, "");
by("target").textContent = data.text(data.page.get(0, "target"));
by("lanes").hidden = lanes < 2;
by("lane").max = Math.max(0, lanes - 1);
by("kinds").append(...KINDS.map(({ name, letter }, kind) => el("li", {}, el("span", { class: `block k${kind}` }, el("em", {}, letter)), name)));
const totals = new Map();
codesOf.forEach((codes) => codes.forEach(({ count }, code) => totals.set(code, (totals.get(code) ?? 0) + count)));
by("filter").append(el("option", { value: "" }, "all"), ...[...totals].sort((a, b) => a[0] - b[0]).map(([code, count]) =>
  el("option", { value: code }, `${data.text(data.codes.get(code, "name"))} (${count})`)));
fill();
if (data.count) follow();
else by("details").append(el("p", {}, "The object has no function with code and debug information."));
document.documentElement.dataset.ready = "true";
