// The page: an expression and a machine, from which everything follows; and the part for objects.

import { call } from "./calls.js";
import { byId, make } from "./dom.js";
import { laneItems } from "./lanes.js";
import { prepareObjects } from "./object.js";
import { fitPictures, pictures } from "./pictures.js";
import { PRESETS } from "./presets.js";
import { addRegister, drawRegisters, setLane } from "./registers.js";
import { EMPTY, fromFragment, machineIn, parsed, toFragment } from "./state.js";

/// The parts of the page, each with a tab, in their order.
const PARTS = ["expression", "object"];

/// What is known of the target in the form.
let target = { name: undefined, lanes: 1, registers: [] };
/// Number of the last question: answers to earlier ones come too late.
let asked = 0;
let timer;

function readState() {
  const read = Math.max(0, Math.min(65536, Number.parseInt(byId("read").value, 10) || 0));
  return {
    expression: byId("text").value, dialect: byId("dialect").value, target: byId("target").value.trim(),
    kind: byId("kind").value, read, machine: byId("machine").value,
  };
}

function writeState(state) {
  byId("text").value = state.expression;
  byId("target").value = state.target;
  byId("machine").value = state.machine;
  byId("read").value = state.read;
  // A link may have words that the lists do not have.
  for (const [id, value] of [["dialect", state.dialect], ["kind", state.kind]]) {
    byId(id).value = value;
    if (byId(id).selectedIndex < 0) byId(id).value = EMPTY[id];
  }
  byId("example").value = PRESETS.findIndex((preset) => toFragment(preset.state) === toFragment(state));
  byId("about").textContent = PRESETS[byId("example").value]?.about ?? "";
  ask();
}

/// Evaluates after the last key.
function later() {
  byId("example").value = -1;
  byId("about").textContent = "";
  clearTimeout(timer);
  timer = setTimeout(ask, 200);
}

async function ask() {
  clearTimeout(timer);
  const number = ++asked;
  document.documentElement.dataset.ready = "false";
  const state = readState();
  history.replaceState(null, "", toFragment(state));
  try {
    await learn(state);
    if (number !== asked) return;
    drawRegisters(target, later);
    const answer = JSON.parse(await call("evaluate", JSON.stringify(state)));
    if (number === asked) show(answer);
  } catch (error) {
    if (number !== asked) return;
    drawRegisters(target, later);
    showError(error);
  }
  if (number === asked) document.documentElement.dataset.ready = "true";
}

/// Learns a target's registers. A machine with a target of its own needs no name, and its registers have no known sizes.
async function learn(state) {
  const file = parsed(state.machine);
  if (file && "target" in file) {
    target = { name: undefined, lanes: Number(machineIn(file).lanes ?? 1), registers: [] };
  } else if (target.name !== state.target) {
    target = { name: undefined, lanes: 1, registers: [] };
    target = { name: state.target, ...JSON.parse(await call("target", state.target)) };
  }
  byId("names").replaceChildren(...target.registers.map(([name]) => make("option", { value: name })));
}

function show(answer) {
  const { result, meaning, lanes, operations, more } = answer;
  const bytes = answer.has_provisional_numbers
    ? `${answer.bytes} (with numbers of this page: the draft has none for some operations)` : answer.bytes;
  const row = (term, text) => (text ? [make("dt", { textContent: term }), make("dd", {}, make("code", { textContent: text }))] : []);
  byId("answer").replaceChildren(
    make("p", { id: "result", className: result.is_error ? "error" : "", textContent: result.text }),
    make("dl", {}, ...row("that is", meaning === result.text || result.is_error ? "" : meaning), ...row("operations", answer.text), ...row("bytes", bytes)));
  byId("in-lanes").hidden = lanes.length < 2;
  byId("lanes").replaceChildren(...laneItems(lanes, answer.lane, (lane) => {
    byId("lane").value = lane;
    setLane(String(lane), ask);
  }));
  byId("in-steps").hidden = false;
  byId("operations").replaceChildren(...operations.slice(0, 60).map((operation, index) => make("a", {
    href: `#step-${index + 1}`, textContent: operation.text, className: operation.depth > 0 ? "deeper" : "",
    onclick: (event) => {
      // The address holds the state, and not a position.
      event.preventDefault();
      byId(`step-${index + 1}`)?.scrollIntoView({ behavior: "smooth", block: "nearest" });
    },
  })), ...(more > 0 ? [`… and ${more} more`] : []));
  byId("steps").replaceChildren(...pictures(answer.picture));
  fitPictures(byId("steps"));
  byId("steps-text").textContent = answer.steps;
}

function showError(error) {
  const where = error.line ? `The machine, line ${error.line}, column ${error.column}: ` : "";
  byId("answer").replaceChildren(make("p", { id: "result", className: "error", textContent: where + (error.message ?? String(error)) }));
  byId("in-lanes").hidden = true;
  byId("in-steps").hidden = true;
}

function showPart(name) {
  for (const part of PARTS) {
    byId(part).hidden = part !== name;
    const tab = byId(`tab-${part}`);
    tab.setAttribute("aria-selected", String(part === name));
    // The Tab key stops at the selected tab alone; arrow keys go to the others, as WAI-ARIA has it.
    tab.tabIndex = part === name ? 0 : -1;
  }
}

/// Selects another tab by an arrow key, Home or End.
function chooseByKey(event) {
  const at = PARTS.indexOf(event.target.id.replace(/^tab-/, ""));
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + PARTS.length, Home: 0, End: PARTS.length - 1 }[event.key];
  if (at < 0 || next === undefined || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const name = PARTS[next % PARTS.length];
  showPart(name);
  byId(`tab-${name}`).focus();
}

async function copyLink() {
  const note = byId("copied");
  try {
    await navigator.clipboard.writeText(location.href);
    note.textContent = "copied";
  } catch {
    note.textContent = "The address of this page is the link.";
  }
  setTimeout(() => { note.textContent = ""; }, 4000);
}

function prepareForm() {
  const groups = Map.groupBy ? Map.groupBy(PRESETS, ({ group }) => group) : new Map([["Examples", PRESETS]]);
  byId("example").append(new Option("–", -1), ...[...groups].map(([label, presets]) => make("optgroup", { label },
    ...presets.map((preset) => new Option(preset.name, PRESETS.indexOf(preset))))));
  byId("example").onchange = ({ target }) => PRESETS[target.value] && writeState(PRESETS[target.value].state);
  for (const id of ["text", "target", "machine", "read", "dialect", "kind"]) byId(id).addEventListener("input", later);
  byId("lane").oninput = ({ target }) => setLane(target.value, later);
  byId("add").onclick = () => addRegister(target, later);
  byId("copy").onclick = copyLink;
  byId("question").onsubmit = (event) => event.preventDefault();
  byId("tab-expression").onclick = () => showPart("expression");
  byId("tab-object").onclick = () => showPart("object");
  document.querySelector("[role=tablist]").onkeydown = chooseByKey;
}

const stateOfAddress = () => fromFragment(location.hash) ?? PRESETS.find(({ name }) => name.startsWith("4.3.2")).state;

prepareForm();
prepareObjects(() => showPart("object"), (expression, target) => {
  const dialect = target.startsWith("amdgpu") ? "llvm" : "dwarf5";
  const machine = target.startsWith("amdgpu") ? '{\n  "lane": 0,\n  "registers": {}\n}' : "{}";
  showPart("expression");
  writeState({ ...EMPTY, expression, dialect, target, machine, read: 0 });
});
addEventListener("hashchange", () => {
  showPart("expression");
  writeState(stateOfAddress());
});
call("names", "").then((names) => {
  const { version, targets } = JSON.parse(names);
  byId("targets").replaceChildren(...targets.map((value) => make("option", { value })));
  byId("version").textContent = version;
}, showError);
writeState(stateOfAddress());
