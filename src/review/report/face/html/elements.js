"use strict";

// What was recorded becomes text nodes here, never markup.

/** An element of HTML: a name with classes (`div.a.b`), attributes, and what is in it. */
function el(name, attributes = {}, ...inside) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElement(tag), classes, attributes, inside);
}

/** An element of SVG. */
function svg(name, attributes = {}, ...inside) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return filled(made, classes, attributes, inside);
}

function filled(made, classes, attributes, inside) {
  made.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside.flat().filter((part) => part !== null));
  return made;
}

/** What an item of the page is drawn from; nothing if there was no room for it. */
function dataOf(item) {
  const found = document.getElementById(`${item.id}-data`);
  return found && JSON.parse(found.textContent);
}

/** `1 message`, `2 messages`. */
function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}
