// A reader of JSON that keeps integers exact: JSON.parse turns them into
// floating point. It accepts exactly what RFC 8259 allows, and refuses duplicate
// names in an object.

export class BadJSON extends Error {}

// Num is a number as it is written.
export class Num {
  constructor(text) {
    this.text = text;
  }
}

const space = new Set([" ", "\t", "\n", "\r"]);
const escapes = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

export function parse(text) {
  let at = 0;
  const fail = (what) => {
    throw new BadJSON(`${what} at offset ${at}`);
  };
  const skip = () => {
    while (space.has(text[at])) at++;
  };
  const take = (c) => {
    if (text[at] !== c) fail(`expected ${c}`);
    at++;
  };
  const string = () => {
    take('"');
    let out = "";
    for (;;) {
      const c = text[at];
      if (c === undefined) fail("unfinished string");
      if (c < " ") fail("control character");
      at++;
      if (c === '"') break;
      if (c !== "\\") {
        out += c;
        continue;
      }
      const e = text[at++];
      if (e === "u") {
        const hex = text.slice(at, at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail("bad escape");
        out += String.fromCharCode(parseInt(hex, 16));
        at += 4;
      } else if (e in escapes) {
        out += escapes[e];
      } else {
        fail("bad escape");
      }
    }
    if (!out.isWellFormed()) fail("lone surrogate");
    return out;
  };
  const list = (close, item) => {
    at++;
    skip();
    if (text[at] === close) {
      at++;
      return;
    }
    for (;;) {
      item();
      skip();
      if (text[at] === close) {
        at++;
        return;
      }
      take(",");
      skip();
    }
  };
  const value = (depth) => {
    if (depth > 100) fail("too deep");
    skip();
    const c = text[at];
    if (c === "{") {
      const members = new Map();
      list("}", () => {
        const name = string();
        if (members.has(name)) fail(`${name} is in the object twice`);
        skip();
        take(":");
        members.set(name, value(depth + 1));
      });
      return members;
    }
    if (c === "[") {
      const items = [];
      list("]", () => items.push(value(depth + 1)));
      return items;
    }
    if (c === '"') return string();
    for (const [word, v] of [["true", true], ["false", false], ["null", null]]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return v;
      }
    }
    const m = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    m.lastIndex = at;
    const found = m.exec(text);
    if (!found) fail("no value");
    at += found[0].length;
    return new Num(found[0]);
  };
  const v = value(0);
  skip();
  if (at !== text.length) fail("something after the value");
  return v;
}
