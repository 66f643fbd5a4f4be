// Requests to the server.

// base is the address that the contract's paths follow.
const base = new URL(document.body.dataset.base, location);

// key is the API key; "": none. It is also kept in the tab's session until the tab is
// closed, where the browser allows that.
let key = "";

const kept = () => quietly(() => sessionStorage.getItem("api-key")) ?? "";
const keep = () => quietly(() => (key ? sessionStorage.setItem("api-key", key) : sessionStorage.removeItem("api-key")));

function quietly(f) {
	try {
		return f();
	} catch {} // the browser refuses
}

// Refusal is the error of a request that was not carried out. Its status is 0 if
// the server did not respond.
class Refusal extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

// send sends a request with the key, and returns the response and its text. It
// returns nothing that a key showed once that is forgotten.
async function send(method, url, headers = {}, body) {
	const used = key;
	if (used) headers = { Authorization: "Bearer " + used, ...headers };
	let response, text;
	try {
		response = await fetch(url, { method, headers, body, cache: "no-store" });
		text = await response.text();
	} catch {
		throw new Refusal(0, "The server does not respond. Is it running? If a proxy needs a login, reload the page.");
	}
	if (used && used !== key) throw new Refusal(0, "The key was forgotten before the response came.");
	return { response, text };
}

// ask sends a request and returns the response and the value in its body. It throws
// a Refusal for a status of 400 or above, and for a response that a proxy sent: that
// says nothing about the key, whatever its status is.
async function ask(method, url, headers, body) {
	const { response, text } = await send(method, url, headers, body);
	let value;
	try {
		value = exactly(text);
	} catch {} // it is not JSON, such as the page of a login
	if (response.ok && value !== undefined) return { response, value };
	if (value?.status === response.status) throw new Refusal(response.status, value.message);
	throw new Refusal(0,
		`The response (${response.status}) is not the server's. If a proxy needs a login, reload the page.`);
}

// nextPlace returns the place of the next page of a list, "" at its end.
function nextPlace(response) {
	const target = response.headers.get("Link")?.match(/<([^>]*)>; *rel="next"/)?.[1];
	return target === undefined ? "" : new URL(target, response.url).href.slice(base.href.length);
}
