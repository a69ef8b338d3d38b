// The results in all lanes: neighbours with an equal result are together.

import { make } from "./dom.js";

/// Returns runs of lanes with equal results: `[first, last, result]`.
function runs(lanes) {
  const all = [];
  lanes.forEach((result, lane) => {
    const last = all.at(-1);
    if (last && last[2].text === result.text) last[1] = lane;
    else all.push([lane, lane, result]);
  });
  return all;
}

/// Returns what was read as a number, if it is a number of whole bytes, the lowest first.
function number(read) {
  const match = /^bytes ((?:[0-9a-f]{2} ?)+)$/.exec(read);
  const bytes = match?.[1].trim().split(" ") ?? [];
  return bytes.length === 0 || bytes.length > 8 ? "" : `= ${BigInt(`0x${bytes.reverse().join("")}`)}`;
}

/// Returns an element for each run. Its button puts the focus on the first lane.
export function laneItems(lanes, focus, choose) {
  return runs(lanes).map(([first, last, result]) => {
    const isCurrent = focus !== null && first <= focus && focus <= last;
    const name = first === last ? `lane ${first}` : `lanes ${first}–${last}`;
    const texts = result.is_error || !result.read ? [result.text] : [result.read, number(result.read)];
    const location = result.is_error || !result.read ? "" : result.location ?? "";
    return make("li", { className: `${isCurrent ? "current" : ""} ${result.is_error ? "wrong" : ""}`.trim() },
      make("button", { type: "button", title: `Focus on lane ${first}`, onclick: () => choose(first), textContent: name }),
      ...texts.filter(Boolean).map((text) => make("code", { textContent: text })),
      location && make("code", { className: "location", textContent: location.replace(/^location /, ""), title: location }));
  });
}
