// The picture of an evaluation, cut into its steps. A step's stack and its storages are two pictures side by side, or one
// above the other on a narrow page.

import { make } from "./dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
/// Colour of a fault's text, which takes the whole width.
const WRONG = "#a3302a";

/// Returns an element for each step, and for the result, of an evaluation's picture.
export function pictures(text) {
  const whole = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const [width, height] = [whole.width.baseVal.value, whole.height.baseVal.value];
  const rules = [...whole.querySelectorAll(":scope > line")].map((line) => Number(line.getAttribute("y1")));
  const panels = [...whole.querySelectorAll(":scope > g.panel")];
  return panels.map((panel, index) => {
    const [top, bottom] = [rules[index] + 1, rules[index + 1] ?? height];
    const texts = [...panel.querySelectorAll(":scope > text")];
    const part = (left, right, children) => {
      const svg = document.createElementNS(NAMESPACE, "svg");
      const size = { viewBox: `${left} ${top} ${right - left} ${bottom - top}`, width: right - left, height: bottom - top };
      for (const [name, value] of Object.entries(size)) svg.setAttribute(name, value);
      svg.setAttribute("font-family", whole.getAttribute("font-family"));
      const group = document.createElementNS(NAMESPACE, "g");
      group.append(...children.map((child) => child.cloneNode(true)));
      // A pattern is found by its id in any picture of the page; all pictures have the same patterns.
      svg.append(...[whole.querySelector("defs")?.cloneNode(true), group].filter(Boolean));
      return make("div", { className: "part" }, svg);
    };
    const isFault = texts.some((line) => line.getAttribute("fill") === WRONG);
    // The second text, what the step read, is at the left edge of the storages.
    const middle = Number(texts[1]?.getAttribute("x")) - 8;
    const isStorage = (child) => child.matches(".ruler") || Number(child.getAttribute("x")) >= middle;
    const children = [...panel.children];
    const parts = isFault || !middle ? [part(8, width, children)] : [
      part(8, middle, children.filter((child) => !isStorage(child))), part(middle, width, children.filter(isStorage))];
    const title = texts[0]?.textContent ?? "";
    return make("li", { id: `step-${index + 1}`, className: isFault ? "wrong" : "" }, make("div", { role: "img", className: "picture", ariaLabel: title }, ...parts));
  });
}

/// Cuts pictures that are in the page to the height of what is in them.
export function fitPictures(element) {
  for (const svg of element.querySelectorAll(".part svg")) {
    const [left, top, width] = svg.getAttribute("viewBox").split(" ").map(Number);
    const box = svg.lastElementChild.getBBox();
    // A part of the page that is not shown has no sizes.
    if (box.height === 0 && svg.getBoundingClientRect().height === 0) continue;
    const height = box.height > 0 ? Math.ceil(box.y + box.height - top + 8) : 0;
    svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    svg.setAttribute("height", height);
  }
}
