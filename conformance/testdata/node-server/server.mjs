// An implementation of the petstore contract on node:http that shares nothing with
// the Go one. It keeps pets in memory, lists the newest first, and its ids start
// beyond 2^53. It serves POST /messages too.
//
// Usage: node server.mjs KEY
// It prints the address that it listens on, and exits when its input ends.

import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { BadJSON, Num, parse } from "./json.mjs";

const key = process.argv[2];
const statuses = ["available", "pending", "sold"];
const pets = new Map();
let nextID = 9007199254740993n; // not exact in floating point

class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// int64 returns the integer that text is, or undefined.
function int64(text) {
  if (!/^-?[0-9]+$/.test(text)) return undefined;
  const n = BigInt(text);
  return BigInt.asIntN(64, n) === n ? n : undefined;
}

function petJSON(pet) {
  const status = pet.status === undefined ? "" : `, "status": ${JSON.stringify(pet.status)}`;
  return `{ "categoryId": ${pet.categoryId}, "id": ${pet.id}, "name": ${JSON.stringify(pet.name)}${status} }`;
}

async function body(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  let v;
  try {
    v = parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)));
  } catch (e) {
    if (e instanceof BadJSON || e instanceof TypeError) throw new Problem(400, `not JSON: ${e.message}`);
    throw e;
  }
  if (!(v instanceof Map)) throw new Problem(400, "not an object");
  return v;
}

function list(query) {
  const limit = query.has("limit") ? Number(query.get("limit")) : 20;
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new Problem(400, "limit: 1 to 100");
  const status = query.get("status");
  if (status !== null && !statuses.includes(status)) throw new Problem(400, "status: unknown");
  const found = [];
  for (const pet of [...pets.values()].reverse()) {
    if (found.length === limit) break;
    if (status === null || pet.status === status) found.push(petJSON(pet));
  }
  return [200, `[${found.join(", ")}]`];
}

async function create(req) {
  const v = await body(req);
  const [name, category, status] = ["name", "categoryId", "status"].map((m) => v.get(m));
  if (typeof name !== "string") throw new Problem(400, "name: a string is required");
  const categoryId = category instanceof Num ? int64(category.text) : undefined;
  if (categoryId === undefined) throw new Problem(400, "categoryId: an int64 is required");
  if (v.has("status") && !statuses.includes(status)) throw new Problem(400, "status: unknown");
  const pet = { id: nextID++, name, categoryId, status };
  pets.set(pet.id, pet);
  return [201, petJSON(pet), { Location: `pets/${pet.id}` }];
}

function fetchOne(text) {
  const id = int64(text);
  const pet = id === undefined ? undefined : pets.get(id);
  if (!pet) throw new Problem(404, "no such pet");
  return [200, petJSON(pet), { Deprecation: "@1795132800", Sunset: "Thu, 05 Dec 2030 00:00:00 GMT" }];
}

async function submit(req) {
  if (!req.headers["content-type"]) throw new Problem(400, "Content-Type is missing");
  const v = await body(req);
  const message = v.get("message");
  if (typeof message !== "string") throw new Problem(400, "message: a string is required");
  return [200, JSON.stringify({ createdAt: new Date().toISOString(), id: randomUUID(), message, status: "queued" })];
}

async function respond(req) {
  const url = new URL(req.url, "http://localhost");
  const operations = {
    "/v1/pets": { GET: () => list(url.searchParams), HEAD: () => list(url.searchParams), POST: () => create(req) },
    "/v1/messages": { POST: () => submit(req) },
  };
  const one = /^\/v1\/pets\/([^/]+)$/.exec(url.pathname.replaceAll(/%3\d/g, decodeURIComponent));
  const methods = one ? { GET: () => fetchOne(one[1]), HEAD: () => fetchOne(one[1]) } : operations[url.pathname];
  if (!methods) throw new Problem(404, "no such path");
  const operation = methods[req.method];
  if (!operation) {
    const p = new Problem(405, "no such method");
    p.headers = { Allow: Object.keys(methods).join(", ") };
    throw p;
  }
  const credential = /^bearer ([^ ]+)$/i.exec(req.headers.authorization ?? "");
  if (credential?.[1] !== key) {
    const p = new Problem(401, "a valid key is required");
    p.headers = { "WWW-Authenticate": "Bearer" };
    throw p;
  }
  return operation();
}

const server = createServer(async (req, res) => {
  let status, text, headers;
  try {
    [status, text, headers] = await respond(req);
  } catch (e) {
    status = e instanceof Problem ? e.status : 500;
    headers = e.headers;
    text = JSON.stringify({ status, message: e.message, code: `E${status}` });
  }
  req.resume();
  res.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
  res.end(req.method === "HEAD" ? undefined : text); // in chunks
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
