// The worker: an instance of the module, and calls to it. A trap ends the instance, not the page: the panic's message is
// read from its memory, and the next call gets a new instance.

let program;
let instance;

function write(number, bytes) {
  const address = instance.exports.reserve(number, bytes.length);
  // The memory may have moved to make room.
  new Uint8Array(instance.exports.memory.buffer).set(bytes, address);
}

function output() {
  const { memory, result, result_size } = instance.exports;
  return new TextDecoder().decode(new Uint8Array(memory.buffer, result() >>> 0, result_size() >>> 0));
}

// What a trap left behind: the panic's message, if it came that far.
function message(trap) {
  try {
    return output() || String(trap);
  } catch {
    return String(trap);
  }
}

async function call(name, question, contents) {
  instance ??= await WebAssembly.instantiate(program, {});
  try {
    write(0, new TextEncoder().encode(question));
    write(1, contents ?? new Uint8Array());
    const isError = instance.exports[name]();
    return isError ? { error: JSON.parse(output()) } : { result: output() };
  } catch (trap) {
    const text = `The evaluator has a fault, and starts anew: ${message(trap)}`;
    instance = undefined;
    return { error: { message: text, isTrap: true } };
  }
}

// Calls run in their order, also while the module is compiled.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(async () => {
    if (data.module) {
      program = await WebAssembly.compile(data.module);
    } else {
      postMessage({ id: data.id, ...(await call(data.name, data.question, data.contents)) });
    }
  }).catch((problem) => postMessage({ id: data.id, error: { message: `The module cannot be compiled: ${problem}` } }));
};
