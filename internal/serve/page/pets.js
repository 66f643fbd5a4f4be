// The view of the pets: facts about the server, the list, the form to add a pet,
// and the JSON of a pet.

// The addresses of the pages before the present one, of the present one, and of the
// next one, "" at the end of the list.
let earlier = [];
let present = "";
let following = "";

// loading counts the loads, so that only the last one is shown. last has its arguments.
let loading = 0;
let last;

const filter = () => document.querySelector("#filter input:checked").value;

function firstPage() {
	const url = new URL("pets?limit=20", base);
	if (filter()) url.searchParams.set("status", filter());
	return url.href;
}

// load shows the page of the list at an address. before has the addresses of the
// pages before it. It returns a Refusal if that fails.
async function load(url, before) {
	const turn = ++loading;
	last = [url, before];
	const list = byId("list");
	list.setAttribute("aria-busy", "true");
	byId("problem").hidden = true;
	let refusal;
	try {
		const { response, value } = await ask("GET", url);
		if (turn !== loading) return;
		earlier = before;
		present = url;
		following = nextPage(response);
		showPets(value);
	} catch (error) {
		if (turn !== loading) return;
		refusal = error;
		if (error.status === 401) lock(error.message);
		else showProblem(error, () => load(url, before));
	}
	list.setAttribute("aria-busy", "false");
	return refusal;
}

function showProblem(error, again) {
	const problem = byId("problem");
	problem.querySelector("p").textContent = error.message;
	problem.querySelector("button").onclick = again;
	problem.hidden = false;
}

function showPets(pets) {
	const status = filter();
	byId("list-heading").textContent = status ? `Pets that are ${status}` : "All pets";
	byId("list").tBodies[0].replaceChildren(...pets.map(petRow));
	byId("list").hidden = pets.length === 0;
	byId("empty").hidden = pets.length > 0;
	byId("empty").textContent = status ? `No pet is ${status}.` : "There are no pets yet. Add the first one.";
	byId("previous").disabled = earlier.length === 0;
	byId("next").disabled = following === "";
	byId("shown").textContent = pets.length === 0 ? "" : `Page ${earlier.length + 1}: ${pets.length === 1 ? "1 pet" : pets.length + " pets"}`;
}

function petRow(pet) {
	const cell = (content, label) => el("td", { role: "cell", "data-label": label }, content);
	return el("tr", { role: "row", "data-pet": pet.id },
		cell(String(pet.id), "ID"),
		cell(pet.name === "" ? el("em.soft", {}, "no name") : el("bdi.name", {}, pet.name)),
		cell(String(pet.categoryId), "Category"),
		cell(pet.status ? el("span.status." + pet.status, {}, pet.status) : el("span.soft", {}, "no status")),
		cell(el("button.quiet", { type: "button", "aria-label": `JSON of pet ${pet.id}`, onclick: () => showJSON(pet) }, "JSON")));
}

function showJSON(pet) {
	let text = `{"id":${pet.id},"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}`;
	text += pet.status ? `,"status":"${pet.status}"}` : "}";
	byId("json-heading").textContent = `Pet ${pet.id}`;
	const block = code(`JSON of pet ${pet.id}`, ...pretty(text));
	byId("json-body").replaceChildren(el("div.block", {}, block, copyButton(() => block.textContent)));
	byId("json").showModal();
}

// turn goes to another page of the list. The focus moves to the heading, since the
// button may be disabled on that page.
async function turn(url, before) {
	if (!(await load(url, before))) byId("list-heading").focus();
}

// loadFacts shows the counts, the uptime and the version.
async function loadFacts() {
	let facts;
	try {
		facts = (await ask("GET", new URL("about", location))).value;
	} catch {
		return; // the list says what is wrong
	}
	const show = (name, text) => (document.querySelector(`[data-fact=${name}]`).textContent = text);
	show("pets", facts.pets.toLocaleString("en"));
	show("queuedMessages", facts.queuedMessages.toLocaleString("en"));
	show("uptime", duration(facts.uptimeSeconds));
	show("version", facts.version.split(" ")[0]);
	document.querySelector("[data-fact=version]").title = facts.version;
}

function duration(seconds) {
	const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
	const first = units.findIndex(([, size]) => seconds >= size);
	if (first < 0) return "0 s";
	return units.slice(first, first + 2).map(([name, size], i) => {
		const count = Math.floor(seconds / size) % (i === 0 ? Infinity : units[first][1] / size);
		return `${count} ${name}`;
	}).join(" ");
}

// creation is the Idempotency-Key of the pet in the form, so that a second try after
// a lost response does not add the pet twice. "": the next try gets a new one.
let creation = "";

// addPet sends what is in the form, right or wrong: the server judges it, and its
// message begins with the name of the field at fault. What is not a number is sent
// as a string, which the message need not say. An empty field is left out.
async function addPet(event) {
	event.preventDefault();
	const form = byId("add");
	const members = [];
	for (const { name, value } of form.querySelectorAll("[name]")) {
		const number = name === "categoryId" && /^\s*-?(0|[1-9]\d*)\s*$/.test(value);
		if (value !== "") members.push(`"${name}":${number ? value.trim() : JSON.stringify(value)}`);
	}
	creation ||= newID();
	const button = form.querySelector("[type=submit]");
	button.setAttribute("aria-busy", "true");
	complain(form, "", "");
	byId("added").textContent = "";
	try {
		const headers = { "Content-Type": "application/json", "Idempotency-Key": creation };
		const { value: pet } = await ask("POST", new URL("pets", base), headers, `{${members.join()}}`);
		form.reset();
		creation = "";
		byId("added").textContent = `Pet ${pet.id} was added.`;
		form.elements.name.focus();
		await showAdded(pet);
	} catch (error) {
		if (error.status === 401) return lock(error.message);
		const [, name, rest] = error.message.match(/^(\w+): ([^]*?)(, not a string)?$/) ?? [];
		if (error.status === 400 && form.elements[name]) complain(form, name, rest);
		else complain(form, "", error.message);
	} finally {
		button.setAttribute("aria-busy", "false");
	}
}

// complain shows a message beside the field of that name, or above the button for "".
// An empty message removes all messages.
function complain(form, name, message) {
	for (const error of form.querySelectorAll(".error")) error.textContent = "";
	for (const field of form.querySelectorAll("[name]")) field.removeAttribute("aria-invalid");
	const field = form.elements[name];
	if (field) {
		field.setAttribute("aria-invalid", "true");
		byId(field.id + "-error").textContent = `${field.labels[0].firstChild.data.trim()} ${message}`;
		field.focus();
	} else {
		byId("add-error").textContent = message;
	}
}

// showAdded loads the list again and marks the new pet. Pets are listed in the order
// of their IDs, so a new one may be on a later page.
async function showAdded(pet) {
	loadFacts();
	await load(...last);
	const row = document.querySelector(`[data-pet="${pet.id}"]`);
	row?.classList.add("new");
	if (!row && !byId("next").disabled) byId("added").textContent += " It is at the end of the list.";
	else if (!row && filter()) byId("added").textContent += ` It is not ${filter()}, so this list leaves it out.`;
}

// newID returns a random key. crypto.randomUUID needs HTTPS.
const newID = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

function startPets() {
	byId("filter").addEventListener("change", () => load(firstPage(), []));
	byId("next").addEventListener("click", () => turn(following, [...earlier, present]));
	byId("previous").addEventListener("click", () => turn(earlier.at(-1), earlier.slice(0, -1)));
	byId("add").addEventListener("submit", addPet);
	byId("add").addEventListener("input", () => {
		creation = "";
		complain(byId("add"), "", "");
	});
	byId("json-close").addEventListener("click", () => byId("json").close());
}
