// A request that the user fills in: its form, its response, and the curl command that
// sends the same request.

// requestOf returns what is in the form of an operation: the method, the URL, the
// header fields and the body.
function requestOf({ method, path, form }) {
	const request = { method, headers: {}, body: form.querySelector("textarea")?.value };
	const query = new URLSearchParams();
	for (const field of form.querySelectorAll("[data-in]")) {
		const { name, value, dataset } = field;
		if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
		if (value === "") continue;
		if (dataset.in === "query") query.set(name, value);
		if (dataset.in === "header") request.headers[name] = value;
	}
	request.url = base.href + path.slice(1) + (query.size ? "?" + query : "");
	return request;
}

// quoted returns text as one word for a shell.
const quoted = (text) => "'" + text.replaceAll("'", `'\\''`) + "'";

function curlLines({ url, headers, body }) {
	const lines = ['curl -H "Authorization: Bearer $PETSTORE_API_KEY"'];
	for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
	if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `--data ${quoted(body)}`);
	lines.push(quoted(url));
	return lines.join(" \\\n  ");
}

// tryOf returns the form of an operation, its response and its command.
function tryOf(method, path, operation, parameters) {
	const elsewhere = path === "/messages" && document.body.dataset.messages === "false";
	if (elsewhere) return ["This server has messages at another address."];
	const id = operation.operationId;
	const field = (p) => {
		const { enum: values, default: fallback } = resolve(p.schema);
		const properties = { id: `${id}-${p.name}`, name: p.name, "data-in": p.in };
		const example = fallback ?? examplesOf(p)[0]?.value;
		// A path needs its parameters. Others are left out unless the user enters one.
		const shown = p.in === "path" ? { value: example } : { placeholder: example };
		return el("div.field", {},
			el("label", { for: properties.id }, p.name, " ", p.required ? required() : el("span.soft", {}, p.in)),
			values
				? el("select", properties, el("option", { value: "" }, "any"), ...values.map((v) => el("option", {}, v)))
				: el("input", { ...properties, ...shown, autocomplete: "off", spellcheck: "false" }));
	};
	const body = operation.requestBody?.content["application/json"];
	const [example] = Object.values(body?.examples ?? {}).map((x) => resolve(x).value);
	const lines = code(`${id}: curl`);
	const result = el("div.result", { role: "status" });
	const form = el("form.try", { novalidate: true, "aria-label": `Try ${id}` },
		...parameters.map(field),
		body && el("div.field", {},
			el("label", { for: id + "-body" }, "Body"),
			el("textarea", { id: id + "-body", rows: 5, spellcheck: "false" }, JSON.stringify(example, null, 2))),
		el("button.primary", { type: "submit" }, "Send the request"),
		result);
	const request = { method, path, form };
	const draw = () => (lines.textContent = curlLines(requestOf(request)));
	form.addEventListener("input", draw);
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		result.replaceChildren(...(await responseTo(requestOf(request), id)));
		result.scrollIntoView({ block: "nearest" });
	});
	draw();
	return [
		el("h4", {}, "curl"),
		el("div.block", {}, lines, copyButton(lines)),
		el("h4", {}, "Try it"),
		form,
	];
}

// responseTo sends a request and returns what to show of the response.
async function responseTo({ method, url, headers, body }, id) {
	if (body !== undefined) headers = { "Content-Type": "application/json", ...headers };
	let response, text;
	try {
		({ response, text } = await send(method, url, headers, body));
	} catch (error) {
		return [el("p.error", {}, error.message)];
	}
	return [
		el("p", {}, el("span.code.class-" + String(response.status)[0], {}, String(response.status)), " ", response.statusText),
		code(`${id}: the response`, pretty(text)),
		el("details", {}, el("summary", {}, "Header fields"),
			el("dl.headers", {}, ...[...response.headers].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("code", {}, value)))))),
		!key && el("p.soft", {}, "The request had no API key. ", el("a", { href: "#pets" }, "Enter one"), "."),
	].filter(Boolean);
}
