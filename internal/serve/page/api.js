// The view of the API, drawn from the OpenAPI document that the server sends.

async function loadAPI() {
	const view = byId("description");
	try {
		const { value } = await ask("GET", new URL("openapi.json", base));
		api = value;
		view.replaceChildren(...drawAPI());
		if (!placeInAddress()) show(true);
	} catch (error) {
		view.replaceChildren(noticeOf(error, loadAPI));
	}
	view.ariaBusy = "false";
}

// operations returns the operations of the document, each with its path, its method
// and its parameters.
function operations() {
	return Object.entries(api.paths).flatMap(([path, item]) =>
		Object.entries(item).map(([method, operation]) => ({
			path, method: method.toUpperCase(), operation, parameters: operation.parameters.map(resolve),
		})));
}

function drawAPI() {
	const all = operations();
	const schemas = Object.entries(api.components.schemas);
	const [first, ...more] = markdown(api.info.description);
	return [
		el("p.lead", {}, ...first.childNodes),
		el("p.soft", {}, `${api.info.title}, version ${api.info.version} of the API. `,
			"Base address: ", el("code", {}, base.href.replace(/\/$/, "")), ". ",
			el("a", { href: new URL("openapi.json", base) }, "OpenAPI document")),
		el("div.guide", {},
			el("nav.contents", { "aria-label": "Operations and schemas" },
				el("h2", {}, "Operations"),
				el("ul", {}, ...all.map(({ method, operation }) => el("li", {},
					el("a", { href: "#" + operation.operationId }, el("span.method", {}, method), " ", operation.summary,
						operation.deprecated && el("span.tag", {}, "deprecated"))))),
				el("h2", {}, "Schemas"),
				el("ul", {}, ...schemas.map(([name]) => el("li", {}, el("a", { href: "#schema-" + name }, name))))),
			el("div", {},
				el("details.more", {}, el("summary", {}, "Requests, errors, and creating only once"), ...more),
				...[...new Set(all.flatMap(({ operation }) => operation.tags))].flatMap((tag) => [
					el("h2", {}, tag),
					...all.filter(({ operation }) => operation.tags.includes(tag)).map(drawOperation),
				]),
				el("h2", {}, "schemas"),
				...schemas.map(([name, schema]) => schemaOf(name, schema)))),
	];
}

function drawOperation({ path, method, operation, parameters }) {
	const id = operation.operationId;
	const body = operation.requestBody;
	return el("article.card.operation", { id, tabindex: -1, "aria-labelledby": id + "-heading" },
		el("div.what", {},
			el("h3", { id: id + "-heading" }, operation.summary, operation.deprecated && el("span.tag", {}, "deprecated")),
			el("p.path", {}, el("span.method", {}, method), " ", el("code", {}, path), el("span.soft", {}, id)),
			operation.deprecated && el("p.notice", {}, el("strong", {}, "Deprecated. "), operation["x-deprecated-reason"]),
			...markdown(operation.description),
			el("h4", {}, "Parameters"),
			parameterTable(parameters),
			body && el("h4", {}, "Request"),
			body && markdown(body.description),
			...(body ? contentOf(body.content, id) : []),
			el("h4", {}, "Responses"),
			...Object.entries(operation.responses).map(([status, response]) => responseOf(operation, status, response))),
		el("div.how", {}, ...tryOf(method, path, operation, parameters)));
}
