// Calls to the module, which runs in a worker: the page stays alive while it works, and can stop it.

import { unpack } from "./unpack.js";

const bytes = unpack(document.getElementById("module").textContent);
const waiting = new Map();
let worker;
let last = 0;

// A worker's script needs an address; the page has it as text, because a page from a folder may not load other files.
const script = URL.createObjectURL(new Blob([document.getElementById("engine").textContent], { type: "text/javascript" }));

async function start() {
  const started = new Worker(script);
  started.onmessage = ({ data }) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  started.onerror = (event) => stop(`The worker cannot run: ${event.message}`);
  started.postMessage({ module: await bytes });
  return started;
}

/// Calls a function of the module. Rejects with its error: `message`, and perhaps `line` and `column` in the machine.
export async function call(name, question, contents) {
  worker ??= start();
  const id = ++last;
  const answer = await new Promise((resolve) => {
    waiting.set(id, resolve);
    worker.then((running) => running.postMessage({ id, name, question, contents }), (problem) => stop(String(problem)));
  });
  if (answer.error) throw answer.error;
  return answer.result;
}

/// Ends all calls. The next call starts a new worker.
export function stop(why) {
  worker?.then((running) => running.terminate(), () => {});
  worker = undefined;
  for (const resolve of waiting.values()) resolve({ error: { message: why } });
  waiting.clear();
}
