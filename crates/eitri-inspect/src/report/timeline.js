// Timeline of a function: pcs downwards, a column for each variable. Only what is seen is drawn.

const ROW = 19, COLUMN = 76, HEAD = 40, CALL = 9, INSTRUCTION = 216;

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const px = (number) => `${number}px`;

// A function with what its drawing needs.
class Shown {
  constructor(data, f, keeps) {
    Object.assign(this, { data, f, slots: new Map() });
    const [first, end] = data.range("functions", f, "variables");
    this.first = first;
    this.findings = new Map();
    const [from, to] = data.range("functions", f, "findings");
    for (let index = from; index < to; index++) {
      const { variable, entry } = data.findings.row(index);
      for (const key of new Set([variable === NONE ? "f" : `v${variable}`, entry === NONE ? "" : `e${entry}`])) {
        this.findings.set(key, [...(this.findings.get(key) ?? []), index]);
      }
    }
    this.columns = [];
    for (let v = first; v < end; v++) {
      const isFrame = data.variables.get(v, "column") > 1;
      if (isFrame || keeps === null || this.of(`v${v}`).some((one) => data.findings.get(one, "code") === keeps)) {
        this.columns.push(v);
      }
    }
    this.rows = this.pcs(first, end);
    const rangeOf = (field) => data.range("functions", f, field);
    this.lines = rangeOf("lines");
    this.calls = rangeOf("calls");
    this.main = this.lineAt(0)?.file;
    this.depth = 0;
    for (let call = this.calls[0]; call < this.calls[1]; call++) {
      this.depth = Math.max(this.depth, data.calls.get(call, "depth") + 1);
    }
    this.instructions = rangeOf("instructions");
    this.hasText = this.instructions[1] > this.instructions[0];
    // Characters of the longest pc, which is the last, and of the longest line.
    this.pcLength = data.shortPc(f, this.rows[this.rows.length - 1]).length;
    this.lineLength = "line".length;
    for (let index = this.lines[0]; index < this.lines[1]; index++) {
      this.lineLength = Math.max(this.lineLength, this.lineText(data.lines.row(index)).length);
    }
  }

  // Line with the name of its file, except in the function's main file.
  lineText({ file, line }) {
    return line ? `${file === this.main ? "" : this.fileName(file)}:${line}` : "–";
  }

  fileName(file) { return this.data.text(this.data.files.get(file, "path")).split("/").pop(); }

  of(key) { return this.findings.get(key) ?? []; }

  // Pcs at which something begins or ends, sorted.
  pcs(first, end) {
    const { data, f } = this, size = data.functions.get(f, "size"), all = new Set([0, size]);
    const seen = new Set();
    for (let v = first; v < end; v++) {
      const [from, to] = data.entriesOf(v);
      // Entries that variables share are read once.
      if (from === to || seen.has(from)) continue;
      seen.add(from);
      for (let e = from; e < to; e++) {
        all.add(data.entries.get(e, "start"));
        all.add(data.entries.get(e, "end"));
      }
    }
    for (const table of ["lines", "instructions"]) {
      const [low, high] = data.range("functions", f, table);
      for (let index = low; index < high; index++) all.add(data[table].get(index, "pc"));
    }
    const [low, high] = data.range("functions", f, "calls"), seenRanges = new Set();
    for (let call = low; call < high; call++) {
      const [from, to] = data.rangesOf(call);
      // Inlined calls share range lists as well.
      if (from === to || seenRanges.has(from)) continue;
      seenRanges.add(from);
      for (let range = from; range < to; range++) {
        all.add(data.ranges.get(range, "start"));
        all.add(data.ranges.get(range, "end"));
      }
    }
    return Uint32Array.from(all).sort();
  }

  top(pc) { return bound(this.rows, pc) * ROW; }

  // Entries that overlap are side by side: the slot of each, and the number of slots.
  slotsOf(v) {
    let found = this.slots.get(v);
    if (found) return found;
    const [from, to] = this.data.entriesOf(v), ends = [], slot = [];
    for (let e = from; e < to; e++) {
      const start = this.data.entries.get(e, "start");
      let at = ends.findIndex((end) => end <= start);
      if (at < 0) at = ends.length;
      ends[at] = this.data.entries.get(e, "end");
      slot.push(at);
    }
    // The largest end so far: entries before it can be skipped.
    const reach = [];
    let most = 0;
    for (let e = from; e < to; e++) reach.push(most = Math.max(most, this.data.entries.get(e, "end")));
    this.slots.set(v, found = { from, to, slot, reach, count: Math.max(1, ends.length) });
    return found;
  }

  // The last row of the line table at or before a pc.
  lineAt(pc) {
    const [from, to] = this.lines;
    let low = from, high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.data.lines.get(middle, "pc") <= pc) low = middle + 1; else high = middle;
    }
    return low > from ? this.data.lines.row(low - 1) : null;
  }

  level(findings) {
    return findings.length ? LEVELS[Math.max(...findings.map((one) => this.data.findings.get(one, "level")))] : "";
  }
}

class Timeline {
  constructor(choose) {
    this.root = document.getElementById("timeline");
    [this.corner, this.head, this.gutter, this.cells] = ["corner", "head", "gutter", "cells"]
      .map((id) => document.getElementById(id));
    this.choose = choose;
    this.root.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => {
      this.fit();
      // What is selected stays in view.
      if (this.shown && this.variable != null) this.reveal(this.variable, this.pc);
      else this.later();
    }).observe(this.root);
  }

  show(shown) {
    this.shown = shown;
    this.fit();
    this.root.scrollTo(0, 0);
    this.draw();
  }

  // Fits the margin to its longest texts. Instructions are shown only if variables still have room beside them, and long
  // lines are cut.
  fit() {
    const { shown, root, corner } = this;
    if (!shown) return;
    root.style.setProperty("--pc-length", shown.pcLength);
    root.style.setProperty("--line-length", Math.min(shown.lineLength, root.clientWidth < 560 ? 11 : 20));
    corner.style.paddingRight = px(shown.depth * CALL);
    const height = px(shown.rows.length * ROW), width = px(shown.columns.length * COLUMN);
    root.style.gridTemplate = `${px(HEAD)} ${height} / max-content ${width}`;
    root.setAttribute("aria-rowcount", shown.columns.length);
    const head = (names) => corner.replaceChildren(...names.map((name) => el("span", { class: name }, name)));
    head(["pc", "line"]);
    this.hasText = shown.hasText && root.clientWidth - corner.offsetWidth >= INSTRUCTION + 3 * COLUMN;
    if (this.hasText) head(["pc", "instruction", "line"]);
    this.gutterWidth = corner.offsetWidth;
  }

  later() {
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  // Rows and columns that are seen, or those of a printed page.
  window() {
    const { rows, columns } = this.shown, { scrollTop, scrollLeft, clientHeight, clientWidth } = this.root;
    if (this.isPrinted) return [0, Math.min(rows.length, 400), 0, Math.min(columns.length, 40)];
    const first = Math.floor(scrollTop / ROW), left = Math.floor(scrollLeft / COLUMN);
    return [
      Math.max(0, first - 4), Math.min(rows.length, first + Math.ceil(clientHeight / ROW) + 4),
      Math.max(0, left - 1), Math.min(columns.length, left + Math.ceil(clientWidth / COLUMN) + 1),
    ];
  }

  draw() {
    if (!this.shown) return;
    const [top, bottom, left, right] = this.window(), { data, columns } = this.shown;
    this.gutter.replaceChildren(...this.margin(top, bottom));
    const heads = [], drawn = [];
    for (let c = left; c < right; c++) {
      const v = columns[c], x = px(c * COLUMN);
      heads.push(this.header(v, x));
      const name = data.text(data.variables.get(v, "name"));
      drawn.push(el("div", {
        class: "column", role: "row", "aria-rowindex": c + 1, "aria-label": name,
        style: { left: x, width: px(COLUMN), height: px(this.shown.rows.length * ROW) },
      }, ...this.blocks(v, top, bottom)));
    }
    this.head.replaceChildren(...heads);
    this.cells.replaceChildren(...drawn);
    const id = this.entry != null ? `v${this.variable}e${this.entry}` : this.variable != null ? `v${this.variable}` : "";
    if (id && document.getElementById(id)) this.root.setAttribute("aria-activedescendant", id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  header(v, x) {
    const { data } = this.shown, { name, type, inlined, column } = data.variables.row(v);
    const level = this.shown.level(this.shown.of(`v${v}`));
    return el("div", {
      id: `v${v}`, class: `variable column${column}`, "aria-selected": v === this.variable,
      title: [data.text(type), data.text(name), data.text(inlined) && `in ${data.text(inlined)}`].filter(Boolean).join(" "),
      style: { left: x, width: px(COLUMN), height: px(HEAD) }, onclick: () => this.choose(v, null),
    }, el("b", {}, data.text(name)), el("small", {}, level && el("i", { class: level }, level[0].toUpperCase()),
      data.text(inlined) || data.text(type) || "rules"));
  }

  blocks(v, top, bottom) {
    const { data, rows } = this.shown, { from, to, slot, reach, count } = this.shown.slotsOf(v);
    const all = [], low = rows[top], high = rows[bottom - 1];
    const scope = this.shown.top(data.variables.get(v, "from"));
    const scopeEnd = this.shown.top(data.variables.get(v, "to"));
    const cut = (y) => Math.min(Math.max(y, top * ROW), bottom * ROW);
    if (data.variables.get(v, "column") < 2 && cut(scope) < cut(scopeEnd)) {
      all.push(el("div", { class: "scope k0", style: { top: px(cut(scope)), height: px(cut(scopeEnd) - cut(scope)) } }));
    }
    for (let e = from + bound(reach, low); e < to; e++) {
      const { start, end, place } = data.entries.row(e);
      if (start > high) break;
      if (end <= start || end < low) continue;
      const y = this.shown.top(start), height = Math.max(4, this.shown.top(end) - y), width = COLUMN / count;
      const kind = data.places.get(place, "kind"), level = this.shown.level(this.shown.of(`e${e}`));
      const label = this.label(place), text = `${KINDS[kind].name} ${label}`;
      const pcs = data.pcs(this.shown.f, start, end);
      all.push(el("div", {
        id: `v${v}e${e}`, class: `block k${kind} ${level}`, role: "gridcell",
        "aria-selected": v === this.variable && e === this.entry,
        "aria-label": `${text}, ${pcs}${level && `, ${level}`}`, title: `${text}\n${pcs}`,
        style: { top: px(y), height: px(height), left: px(slot[e - from] * width), width: px(width - 3) },
        onclick: () => this.choose(v, e),
      }, el("span", { style: { top: px(Math.max(0, Math.min(top * ROW + 4 * ROW - y, height - ROW))) } },
        el("em", {}, KINDS[kind].letter), level && el("i", { class: level }, level[0].toUpperCase()), label)));
    }
    return all;
  }

  // Label of a place, with the lane where it is one of each lane.
  label(place) {
    const { data } = this.shown, { kind, label, result } = data.places.row(place), text = data.text(label);
    return kind === 2 && /[\x01\x03]/.test(data.text(result)) ? `${text}[${this.lane}]` : text;
  }

  margin(top, bottom) {
    const { data, rows, f, calls, instructions } = this.shown, { hasText } = this, all = [];
    let last = top > 0 ? this.shown.lineAt(rows[top - 1]) : null;
    const texts = new Map();
    for (let index = instructions[0]; index < instructions[1]; index++) {
      const pc = data.instructions.get(index, "pc");
      if (pc > rows[bottom - 1]) break;
      if (pc >= rows[top]) texts.set(pc, data.text(data.instructions.get(index, "text")));
    }
    for (let row = top; row < bottom; row++) {
      const pc = rows[row], line = row < rows.length - 1 ? this.shown.lineAt(pc) : null;
      const isNew = line && (line.line !== last?.line || line.file !== last?.file);
      last = line;
      all.push(el("div", {
        class: `row ${isNew ? "new" : ""} ${pc === this.pc ? "current" : ""}`, style: { top: px(row * ROW) },
        onclick: () => this.choose(null, null, pc),
      }, el("span", { class: "pc" }, data.shortPc(f, pc)), ...(hasText ? [el("span", { class: "instruction" }, texts.get(pc) ?? "")] : []),
      el("span", { class: "line", title: isNew ? this.shown.fileName(line.file) : "" }, isNew ? this.shown.lineText(line) : "")));
    }
    for (let call = calls[0]; call < calls[1]; call++) {
      const { depth, name, line } = data.calls.row(call), [from, to] = data.rangesOf(call);
      for (let range = from; range < to; range++) {
        const { start, end } = data.ranges.row(range);
        const y = this.shown.top(start), height = this.shown.top(end) - y;
        if (y > bottom * ROW || y + height < top * ROW) continue;
        all.push(el("div", {
          class: "call", title: `${data.text(name)}, inlined at line ${line}`,
          style: { top: px(y), height: px(height - 1), right: px((this.shown.depth - depth - 1) * CALL), width: px(CALL - 2) },
        }));
      }
    }
    return all;
  }

  // Brings a column and a row into view.
  reveal(v, pc) {
    const c = this.shown.columns.indexOf(v), { root } = this;
    if (c >= 0) {
      const x = c * COLUMN, width = root.clientWidth - this.gutterWidth;
      if (x < root.scrollLeft) root.scrollLeft = x;
      else if (x + COLUMN > root.scrollLeft + width) root.scrollLeft = x + COLUMN - width;
    }
    if (pc != null) {
      const y = this.shown.top(pc), height = root.clientHeight - HEAD;
      if (y < root.scrollTop || y + ROW > root.scrollTop + height) root.scrollTop = Math.max(0, y - height / 3);
    }
    this.draw();
  }
}
