// A code object: its findings and its report. The file is read by the page, and goes to the module alone.

import { call, stop } from "./calls.js";
import { byId, make } from "./dom.js";

/// Number of findings that are shown at first.
const FIRST = 100;
const LEVELS = ["error", "warning", "note"];

let contents;
let name;
/// What is wrong with the rest of a container.
let rest = "";
/// Number of the file that was asked about last: answers about another file come too late.
let asked = 0;
let evaluateIn = () => {};

/// Prepares the part of the page for objects. `evaluate` gets an expression, and the name of its target.
export function prepareObjects(show, evaluate) {
  evaluateIn = evaluate;
  byId("file").onchange = ({ target }) => target.files.length && open(target.files[0]);
  byId("member").onchange = () => diagnose(Number(byId("member").value));
  byId("stop").onclick = () => stop("stopped");
  // Text that is dragged stays the browser's.
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  addEventListener("dragleave", (event) => event.relatedTarget ?? document.body.classList.remove("dragging"));
  addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    if (!hasFile(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (!file) return;
    show();
    open(file);
  });
}

async function open(file) {
  name = file.name;
  contents = undefined;
  hide();
  byId("of-container").hidden = true;
  say(`Reading ${name} …`);
  const number = ++asked;
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { members, unreadable } = JSON.parse(await call("members", "", bytes));
    if (number !== asked) return;
    contents = bytes;
    rest = unreadable.length > 0 ? `; the rest of the file cannot be read: ${unreadable[0]}` : "";
    byId("member").replaceChildren(...members.map((member, index) => new Option(
      member.bytes === null ? `${member.name}: compressed, or in another file` : `${member.name}: ${member.bytes} bytes`, index)));
    byId("of-container").hidden = members.length === 0;
    // The first member of an offload bundle is the host's, and often empty.
    const first = members.findIndex((member) => member.bytes);
    byId("member").value = first;
    await diagnose(members.length > 0 ? first : undefined);
  } catch (error) {
    if (number === asked) say(`${name}: ${error.message ?? error}`, true);
  }
}

async function diagnose(member) {
  const number = ++asked;
  const shown = member === undefined ? name : byId("member").selectedOptions[0]?.textContent.replace(/: \d+ bytes$/, "") ?? name;
  const question = JSON.stringify({ name: shown, member: member ?? null });
  hide();
  say(`Diagnosing ${shown} …`);
  // What takes no time needs no button.
  const timer = setTimeout(() => { byId("stopping").hidden = number !== asked; }, 500);
  try {
    const report = JSON.parse(await call("lint", question, contents));
    if (number !== asked) return;
    showFindings(shown, report);
    if (report.is_drawn) {
      say(`Drawing ${shown} …`);
      const page = await call("report", question, contents);
      if (number !== asked) return;
      showReport(shown, page);
    }
    say(`${name}: ${contents.length} bytes${rest}`);
  } catch (error) {
    if (number === asked) say(`${shown}: ${error.message ?? error}`, true);
  } finally {
    clearTimeout(timer);
    if (number === asked) byId("stopping").hidden = true;
  }
}

function say(text, isError = false) {
  byId("state").textContent = text;
  byId("state").className = isError ? "error" : "";
}

function hide() {
  byId("found").hidden = true;
  byId("drawn").hidden = true;
}

const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function showFindings(shown, { target, functions, entries, findings, unreadable }) {
  const total = (level) => findings.filter(({ finding }) => finding.level === level).reduce((sum, { count }) => sum + count, 0);
  const counts = LEVELS.filter(total).map((level) => plural(total(level), level));
  byId("found-title").textContent = counts.length > 0 ? `Findings: ${counts.join(", ")}` : "No findings";
  byId("summary").textContent = [
    shown, target ?? "an unknown target", plural(functions, "function"), `${entries} location ${entries === 1 ? "entry" : "entries"}`,
    ...unreadable.slice(0, 1).map((problem) => `parts cannot be read: ${problem}`),
  ].join(" · ");
  const rank = ({ finding }) => LEVELS.indexOf(finding.level);
  const sorted = [...findings].sort((left, right) => rank(left) - rank(right));
  const put = (some) => byId("findings").append(...some.map((item) => findingItem(item, target)));
  byId("findings").replaceChildren();
  put(sorted.slice(0, FIRST));
  byId("rest").hidden = sorted.length <= FIRST;
  byId("all").onclick = () => {
    byId("rest").hidden = true;
    put(sorted.slice(FIRST));
  };
  byId("found").hidden = false;
}

function findingItem({ count, finding }, target) {
  const where = [
    finding.function, finding.variable, finding.pcs && `[${finding.pcs.join(", ")})`,
    finding.declared && `${finding.declared.file.replace(/.*\//, "")}:${finding.declared.line}`,
  ].filter(Boolean).join(" · ");
  const row = (term, text) => (text ? [make("dt", { textContent: term }), make("dd", { textContent: text })] : []);
  return make("li", { className: `finding ${finding.level}` },
    make("p", {}, make("b", { textContent: `${finding.level}: ${finding.code}` }), ` ${where}`),
    finding.expression && marked(finding.expression),
    make("dl", {}, ...row("written", finding.written), ...row("meant", finding.meant),
      ...finding.evidence.flatMap((fact) => row("evidence", fact)),
      ...row("at", `${finding.section}+0x${finding.offset.toString(16)}`)),
    make("p", { className: "more" }, count > 1 ? `${plural(count - 1, "finding")} more like this` : "",
      finding.expression && target && make("button", {
        type: "button", textContent: "Evaluate", onclick: () => evaluateIn(finding.expression.text, target),
      })));
}

/// The expression, with the operations at fault marked. `fault` counts bytes.
function marked({ text, fault: [start, end] }) {
  const bytes = new TextEncoder().encode(text);
  const part = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
  return make("p", {}, make("code", {}, part(0, start), make("mark", { textContent: part(start, end) }), part(end)));
}

function showReport(shown, page) {
  // An address of its own, because the report's links to its parts do not work in a page without an address.
  const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  const old = byId("report").src;
  byId("report").src = address;
  byId("save").href = address;
  byId("save").download = `${shown.replace(/.*[/\\]/, "")}.html`;
  byId("drawn").hidden = false;
  if (old.startsWith("blob:")) URL.revokeObjectURL(old);
}
