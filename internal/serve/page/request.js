// A request that the user fills in: its form, its response, and lines of code that
// send the same request.

// languages are the functions that return the lines of code for a request.
const languages = { curl: curlLines, Go: goLines, JavaScript: scriptLines };
let language = "curl";

// requestOf returns what is in the form of an operation: the method, the URL, the
// header fields, the body, and the parameters by name.
function requestOf({ method, path, form }) {
	const request = { method, headers: {}, values: {}, body: form.querySelector("textarea")?.value };
	const query = new URLSearchParams();
	for (const field of form.querySelectorAll("[data-in]")) {
		const { name, value, dataset } = field;
		request.values[name] = value;
		if (dataset.in === "path") path = path.replace(`{${name}}`, value === "" ? `{${name}}` : encodeURIComponent(value));
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
	const lines = ['curl --oauth2-bearer "$PETSTORE_API_KEY"'];
	for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
	if (body !== undefined) lines.push(`--json ${quoted(body)}`);
	lines.push(quoted(url));
	return lines.join(" \\\n  ");
}

function scriptLines({ method, url, headers, body }) {
	const fields = { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers };
	return [
		`const response = await fetch(${JSON.stringify(url)}, {`,
		method !== "GET" && `  method: ${JSON.stringify(method)},`,
		"  headers: {",
		"    Authorization: `Bearer ${process.env.PETSTORE_API_KEY}`,",
		...Object.entries(fields).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
		"  },",
		body !== undefined && `  body: ${JSON.stringify(body)},`,
		"});",
		"console.log(response.status, await response.text());",
	].filter(Boolean).join("\n");
}

// goCalls are the calls of package client, by the ID of the operation.
const goCalls = {
	listPets: ({ values }) => `page, err := c.ListPets(ctx, petstore.ListQuery{${members({
		Limit: goInteger(values.limit), Status: values.status && goString(values.status), After: values.cursor && goString(values.cursor),
	})}})`,
	getPet: ({ values }) => `pet, err := c.GetPet(ctx, ${goInteger(values.petId) || 1})`,
	createPet: ({ values, body }) => {
		const pet = parsed(body);
		return `pet, err := c.CreatePet(ctx, petstore.NewPet{${members({
			Name: goString(pet.name), CategoryID: goInteger(pet.categoryId), Status: pet.status && goString(pet.status),
		})}}, ${once(values)})`;
	},
	submitMessage: ({ values, body }) => `message, err := c.SubmitMessage(ctx, ${goString(parsed(body).message)}, ${once(values)})`,
};

const once = (values) => `petstore.Once{${members({ Key: values["Idempotency-Key"] && goString(values["Idempotency-Key"]) })}}`;
const members = (all) => Object.entries(all).filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`).join(", ");
const goInteger = (value = "") => (/^-?\d+$/.test(value) ? String(BigInt(value)) : "");

// goString returns value as a Go string literal. Go reads the escapes that
// JSON.stringify writes, except those of lone surrogates.
const goString = (value) => JSON.stringify(String(value ?? "")).replace(/\\ud[89a-f]../g, "\\ufffd");

function parsed(body) {
	try {
		return exactly(body) ?? {};
	} catch {
		return {};
	}
}

function goLines(request, id) {
	return `// import "example.com/animalstore/petstore"
// import "example.com/animalstore/petstore/client"
c, err := client.New(${JSON.stringify(base.href)}, os.Getenv("PETSTORE_API_KEY"), nil)
if err != nil {
	return err
}
${goCalls[id]?.(request) ?? "// package client has no call for this operation"}`;
}

// tryOf returns the form of an operation, its response and its lines of code.
function tryOf(method, path, operation, parameters) {
	const id = operation.operationId;
	const field = (p) => {
		const { enum: values, default: fallback } = resolve(p.schema);
		const properties = { id: `${id}-${p.name}`, name: p.name, "data-in": p.in };
		const first = p.required && Object.values(p.examples ?? {}).map(resolve)[0]?.value;
		return el("div.field", {},
			el("label", { for: properties.id }, p.name, " ", p.required ? required() : el("span.soft", {}, p.in)),
			values
				? el("select", properties, el("option", { value: "" }, "any"), ...values.map((v) => el("option", {}, v)))
				: el("input", { ...properties, value: first, placeholder: fallback, autocomplete: "off", spellcheck: "false" }));
	};
	const body = operation.requestBody?.content["application/json"];
	const lines = code(`${id}: code`);
	const result = el("div.result", { role: "status" });
	const form = el("form.try", { novalidate: true, "aria-label": `Try ${id}` },
		...parameters.map(field),
		...(body ? bodyField(id, body) : []),
		el("button.primary", { type: "submit" }, "Send the request"),
		result);
	const request = { method, path, form };
	const draw = () => (lines.textContent = languages[language](requestOf(request), id));
	form.addEventListener("input", draw);
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		result.setAttribute("aria-busy", "true");
		result.replaceChildren(...(await responseTo(requestOf(request), id)));
		result.setAttribute("aria-busy", "false");
	});
	addEventListener("language", draw);
	draw();
	return [
		el("h4", {}, "Code"),
		el("div.block", {}, languageChoice(id), lines, copyButton(() => lines.textContent)),
		el("h4", {}, "Try it"),
		form,
	];
}

function bodyField(id, { examples }) {
	const values = Object.values(examples).map(resolve);
	const area = el("textarea", { id: id + "-body", rows: 5, spellcheck: "false" });
	const put = (i) => {
		area.value = JSON.stringify(values[i].value, null, 2);
		area.dispatchEvent(new Event("input", { bubbles: true }));
	};
	put(0);
	return [
		values.length > 1 && el("div.field", {},
			el("label", { for: id + "-example" }, "Example"),
			el("select", { id: id + "-example", onchange: (event) => put(event.target.value) },
				...values.map((x, i) => el("option", { value: i }, x.summary)))),
		el("div.field", {}, el("label", { for: area.id }, "Body"), area),
	];
}

// responseTo sends a request and returns what to show of the response.
async function responseTo({ method, url, headers, body }, id) {
	const start = performance.now();
	if (body !== undefined) headers = { "Content-Type": "application/json", ...headers };
	let response, text;
	try {
		({ response, text } = await send(method, url, headers, body));
	} catch (error) {
		return [el("p.error", {}, error.message)];
	}
	const time = performance.now() - start;
	return [
		el("p", {}, el("span.code.class-" + String(response.status)[0], {}, String(response.status)), ` ${response.statusText} `, el("span.soft", {}, `${time.toFixed(0)} ms`)),
		code(`${id}: the response`, ...pretty(text)),
		el("details", {}, el("summary", {}, "Header fields"),
			el("dl.headers", {}, ...[...response.headers].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))))),
		!key && el("p.soft", {}, "The request had no API key. ", el("a", { href: "#pets" }, "Enter one"), "."),
	].filter(Boolean);
}

// languageChoice returns the buttons that choose the language of all lines of code.
function languageChoice(id) {
	const choose = (event) => {
		language = event.target.value;
		dispatchEvent(new Event("language"));
	};
	const choice = el("fieldset.segments", {}, el("legend.hidden", {}, "Language"),
		...Object.keys(languages).map((name) => el("label", {},
			el("input", { type: "radio", name: id + "-language", value: name, onchange: choose }), el("span", {}, name))));
	const mark = () => (choice.querySelector(`[value=${language}]`).checked = true);
	addEventListener("language", mark);
	mark();
	return choice;
}
