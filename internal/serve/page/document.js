// The OpenAPI document, as elements: descriptions, parameters, schemas, responses
// and examples.

// api is the document.
let api;

// resolve returns what a reference stands for. Members beside $ref override those
// of the target.
function resolve(x) {
	if (!x?.$ref) return x ?? {};
	const { $ref, ...own } = x;
	return { ...resolve($ref.split("/").slice(1).reduce((at, name) => at[name], api)), ...own };
}

// typeOf returns the type of a schema in words, with a link to a schema that has a
// name.
function typeOf(schema) {
	if (schema.$ref) return [link(schema.$ref, schema.$ref.split("/").at(-1))];
	if (schema.type === "array") return ["array of ", ...typeOf(schema.items)];
	return [(schema.type ?? "object") + (schema.format ? ` (${schema.format})` : "")];
}

// limits returns a line with the constraints of a schema.
function limits(schema) {
	const { minimum, maximum, default: fallback, enum: values, maxItems, pattern } = resolve(schema);
	const out = [];
	if (minimum !== undefined && maximum !== undefined) out.push(["from ", String(minimum), " to ", String(maximum)]);
	if (maxItems !== undefined) out.push([`at most ${maxItems} items`]);
	if (fallback !== undefined) out.push(["default ", el("code", {}, JSON.stringify(fallback))]);
	if (values) out.push(["one of ", ...values.flatMap((value, i) => [i > 0 && ", ", el("code", {}, value)])]);
	if (pattern) out.push(["matches ", el("code", {}, pattern)]);
	return out.length === 0 ? [] : [el("p.limit.soft", {}, ...out.flatMap((parts, i) => [i > 0 && "; ", ...parts]))];
}

const required = () => el("span.required", {}, "required");

// named returns the first cell of a row: a name, whether it is required, and its
// type and place.
function named(name, isRequired, ...about) {
	return [el("p", {}, el("code", {}, name), isRequired && required()), el("p.limit.soft", {}, ...about)];
}

// parameterTable returns the parameters of an operation.
function parameterTable(parameters) {
	return table(["Parameter", "Meaning"], parameters.map((p) => [
		named(p.name, p.required, ...typeOf(p.schema), `, in the ${p.in}`),
		[...markdown(p.description), ...limits(p.schema), ...suchAs(examplesOf(p))],
	]));
}

// headerTable returns the header fields of a response.
function headerTable(headers) {
	return table(["Header field", "Meaning"], Object.entries(headers).map(([name, header]) => {
		header = resolve(header);
		return [el("code", {}, name), [...markdown(header.description), ...suchAs(examplesOf(header))]];
	}));
}

// examplesOf returns the examples of a parameter or of a header field.
const examplesOf = ({ example, examples = {} }) =>
	example === undefined ? Object.values(examples).map(resolve) : [{ value: example }];

// suchAs returns a line with examples.
function suchAs(all = []) {
	return all.length === 0 ? [] : [el("p.limit.soft", {}, "such as ", ...all.flatMap(({ value, summary }, i) =>
		[i > 0 && ", ", el("code", {}, String(value)), summary && ` (${summary})`]))];
}

// contentOf returns the body of a request or response: its schema and examples.
function contentOf(content, label) {
	return Object.entries(content).flatMap(([type, { schema, examples = {} }]) => [
		el("p", {}, "Body: ", ...typeOf(schema), el("span.soft", {}, ` as ${type}`)),
		...Object.values(examples).map(resolve).map((example) => el("figure", {},
			el("figcaption.soft", {}, example.summary),
			code(`${label}: ${example.summary}`, pretty(JSON.stringify(example.value))))),
	]);
}

// responseOf returns a response of an operation, folded.
function responseOf(operation, status, response) {
	response = resolve(response);
	const [summary, ...rest] = markdown(response.description);
	return el("details.response", {},
		el("summary", {}, el("span.code.class-" + status[0], {}, status), el("span", {}, ...summary.childNodes)),
		el("div", {}, ...rest,
			response.headers && headerTable(response.headers),
			...contentOf(response.content ?? {}, `${operation.operationId}, ${status}`),
			...Object.values(response.links ?? {}).map((l) => el("p", {}, "Leads to ", el("a", { href: "#" + l.operationId }, l.operationId), ": ", ...inline(l.description)))));
}

// schemaOf returns the section of a schema that has a name.
function schemaOf(name, schema) {
	const parts = (schema.allOf ?? [schema]).map(resolve);
	const properties = parts.flatMap((part) => Object.entries(part.properties ?? {}));
	const needed = parts.flatMap((part) => part.required ?? []);
	const id = "schema-" + name;
	return el("section.schema", { id, tabindex: -1, "aria-labelledby": id + "-heading" },
		el("h3", { id: id + "-heading" }, name, " ", el("span.soft", {}, ...(schema.allOf ? ["object"] : typeOf(schema)))),
		...markdown(schema.description),
		...limits(schema),
		properties.length > 0 && table(["Member", "Meaning"], properties.map(([member, property]) => [
			named(member, needed.includes(member), ...typeOf(property)),
			[
				...markdown(resolve(property).description),
				...(property.$ref ? [] : limits(property)),
				...suchAs(property.examples?.map((x) => ({ value: JSON.stringify(x) }))),
			],
		])));
}
