// Elements, and JSON and Markdown as elements. All text from the server goes into
// text nodes: nothing on this page is parsed as HTML.

const byId = (id) => document.getElementById(id);

// el returns a new element: el("p.soft", {id: "x"}, "text", child). A property that
// starts with "on" is an event handler. Properties and children that are null,
// undefined or false are left out.
function el(name, properties = {}, ...children) {
	const [tag, ...classes] = name.split(".");
	const e = document.createElement(tag);
	e.classList.add(...classes);
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else if (value != null && value !== false) e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.flat().filter((child) => child != null && child !== false));
	return e;
}

// complain shows below a field what is wrong with it, and moves the focus there. An empty
// message removes what was shown.
function complain(field, message) {
	field.ariaInvalid = message ? "true" : null;
	byId(field.id + "-error").textContent = message;
	if (message) field.focus();
}

// noticeOf returns a message about a request that failed. It offers to try again if the
// same request may succeed later.
function noticeOf({ status, message }, again) {
	const onclick = ({ target }) => {
		focusOn(target.closest(".view")); // the button goes
		again();
	};
	return el("div.notice", { role: "alert" },
		el("p", {}, message),
		(status === 0 || status === 503) && el("button.plain", { type: "button", onclick }, "Try again"));
}

// copyButton returns a button that copies the text of an element. Browsers can copy only
// over HTTPS and on the local machine: elsewhere there is no button.
function copyButton(source) {
	const button = el("button.quiet.copy", { type: "button", "aria-live": "polite", onclick: async () => {
		button.textContent = await navigator.clipboard.writeText(source.textContent).then(() => "Copied", () => "Not copied");
		setTimeout(() => (button.textContent = "Copy"), 2000);
	} }, "Copy");
	return navigator.clipboard && button;
}

// code returns a block of code that the keyboard can scroll.
function code(label, ...content) {
	return el("pre", { tabindex: 0, role: "region", "aria-label": label }, ...content);
}

// tokens matches the tokens of JSON.
const tokens = /"(?:[^"\\]+|\\.)*"|[-+.\w]+|[{}[\],:]/g;

// pretty returns JSON text with indentation. It keeps every number as it was sent:
// JSON.parse would round large ones.
function pretty(text) {
	try {
		JSON.parse(text);
	} catch {
		return text;
	}
	const all = text.match(tokens);
	let out = "";
	let depth = 0;
	const newLine = () => "\n" + "  ".repeat(depth);
	all.forEach((token, i) => {
		if (token === "{" || token === "[") {
			depth++;
			out += token + (/[}\]]/.test(all[i + 1]) ? "" : newLine());
		} else if (token === "}" || token === "]") {
			depth--;
			out += (/^[{[]$/.test(all[i - 1]) ? "" : newLine()) + token;
		} else if (token === ",") {
			out += token + newLine();
		} else {
			out += token === ":" ? ": " : token;
		}
	});
	return out;
}

// exactly parses JSON. Integers that a number would round become strings.
function exactly(text) {
	JSON.parse(text); // tokens takes time without end for a string that has none
	return JSON.parse(text.replace(tokens, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)));
}

// markdown returns the elements for a text with the Markdown that the document uses:
// paragraphs, headings, tables, code and links.
function markdown(text = "") {
	return text.split(/\n{2,}/).map((block) => {
		if (block.startsWith("## ")) return el("h3", {}, ...inline(block.slice(3)));
		if (!block.startsWith("|")) return el("p", {}, ...inline(block));
		const [head, , ...rows] = block.split("\n").map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
		return table(head, rows.map((row) => row.map(inline)));
	});
}

function inline(text) {
	const out = [];
	let end = 0;
	for (const m of text.matchAll(/`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)/g)) {
		out.push(text.slice(end, m.index), m[1] ? el("code", {}, m[1]) : link(m[3], ...inline(m[2])));
		end = m.index + m[0].length;
	}
	out.push(text.slice(end));
	return out;
}

// link returns a link to a schema.
const link = (ref, ...content) => el("a", { href: "#schema-" + ref.split("/").at(-1) }, ...content);

// table returns a table. The roles keep it a table for screen readers on a phone,
// where the style makes a block of each row.
function table(head, rows) {
	return el("table", { role: "table" },
		el("thead", { role: "rowgroup" }, el("tr", { role: "row" },
			...head.map((text) => el("th", { role: "columnheader", scope: "col" }, text)))),
		el("tbody", { role: "rowgroup" }, ...rows.map((cells) => el("tr", { role: "row" },
			...cells.map((cell) => el("td", { role: "cell" }, cell))))));
}
