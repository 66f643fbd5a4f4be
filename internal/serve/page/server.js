// Requests to the server.

// base is the address that the contract's paths follow.
const base = new URL(document.body.dataset.base, location);

// key is the API key; "": none. It is kept here and nowhere else.
let key = "";

// Refusal is the error of a request that was not carried out. Its status is 0 if
// there was no response.
class Refusal extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

// send sends a request with the key, and returns the response and its text. It
// returns nothing that a key showed once that is forgotten.
async function send(method, url, headers = {}, body = undefined) {
	const used = key;
	if (used) headers = { Authorization: "Bearer " + used, ...headers };
	let response, text;
	try {
		response = await fetch(url, { method, headers, body, cache: "no-store", credentials: "omit" });
		text = await response.text();
	} catch (error) {
		throw new Refusal(0, `There was no response: ${error.message}.`);
	}
	if (used && used !== key) throw new Refusal(0, "The key was forgotten before the response came.");
	return { response, text };
}

// ask sends a request and returns the response and the value in its body. It throws
// a Refusal for a status of 400 or above.
async function ask(method, url, headers, body) {
	const { response, text } = await send(method, url, headers, body);
	let value;
	try {
		value = exactly(text);
	} catch {
		throw new Refusal(response.status, `The response (${response.status}) is not JSON.`);
	}
	if (!response.ok) throw new Refusal(response.status, value.message);
	return { response, value };
}

// nextPage returns the address of the next page of a list (RFC 8288), or "".
function nextPage(response) {
	const target = response.headers.get("Link")?.match(/<([^>]*)>; *rel="next"/)?.[1];
	return target === undefined ? "" : new URL(target, response.url).href;
}
