/// Returns the page's element with an id.
export const byId = (id) => document.getElementById(id);

/// Makes an element with properties and children. Texts stay texts: nothing in them is markup.
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("data-") || key.startsWith("aria-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
}
