// The view of the pets: facts about the server, the list, the form to add a pet,
// and the JSON of a pet.

const pageSize = 20;

// place is the page of the list that is shown. It is in the history, so Back and a reload
// return to it. IDs have no gaps, so page 3 of all pets has those from 41 to 60. Of a list
// by status only the cursors are known: those of the pages before are in earlier.
const firstPage = (status = "") => ({ status, number: 1, cursor: "", earlier: [] });
let place = firstPage();

// following is the cursor of the next page, "" at the end.
let following = "";

// loading counts the loads, so that only the last one is shown.
let loading = 0;

const filter = () => document.querySelector("#filter input:checked").value;

// load shows a page of the list, and marks the pet with the ID mark. The cursor of a page
// of all pets may be left out. load returns a Refusal if that fails or another load has
// begun. again is what the user tries again.
async function load(to, mark, again = () => load(to, mark)) {
	const own = ++loading;
	const list = byId("list");
	list.setAttribute("aria-busy", "true");
	byId("problem").hidden = true;
	byId("filter").querySelector(`[value="${to.status}"]`).checked = true;
	let refusal;
	try {
		const facts = await loadFacts(to.number);
		to.cursor ??= facts.cursor;
		if (mark && !(mark >= 1 && mark <= facts.pets)) throw new Refusal(404, `There is no pet ${mark}.`);
		const url = new URL("pets?limit=" + pageSize, base);
		for (const name of ["status", "cursor"]) if (to[name]) url.searchParams.set(name, to[name]);
		const { response, value } = await ask("GET", url);
		if (own !== loading) return new Refusal(0, "");
		place = to;
		following = nextCursor(response);
		showPets(value, facts.pets);
		byId("pet-" + mark)?.classList.add("new");
	} catch (error) {
		if (own !== loading) return error;
		refusal = error;
		if (error.status === 401) lock(error.message);
		else showProblem(error, again);
	}
	list.setAttribute("aria-busy", "false");
	return refusal;
}

function showProblem(error, again) {
	const problem = byId("problem");
	problem.querySelector("p").textContent = error.message;
	problem.querySelector("button").onclick = again;
	problem.hidden = false;
	problem.scrollIntoView({ block: "nearest" });
}

// last is the number of the last page of all pets.
let last = 1;

function showPets(pets, total) {
	const { status, number } = place;
	last = Math.max(1, Math.ceil(total / pageSize));
	byId("list-heading").textContent = status ? `Pets that are ${status}` : "All pets";
	byId("list").tBodies[0].replaceChildren(...pets.map(petRow));
	byId("list").hidden = pets.length === 0;
	byId("empty").hidden = pets.length > 0;
	byId("empty").textContent = status ? `No pet is ${status}.` : "There are no pets yet. Add the first one.";
	byId("first").disabled = byId("previous").disabled = number === 1;
	byId("next").disabled = following === "";
	byId("last").disabled = number >= last;
	byId("last").hidden = status !== "";
	byId("shown").textContent = pets.length === 0 ? "" : `Page ${number}` + (status ? "" : ` of ${last}`);
}

function petRow(pet) {
	const cell = (content, label) => el("td", { role: "cell", "data-label": label }, content);
	return el("tr", { role: "row", id: "pet-" + pet.id },
		cell(el("a", { href: "#pet-" + pet.id }, String(pet.id)), "ID"),
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

// turn goes to another page of the list, which gets a place in the history. If a button
// did that, the focus moves to the heading: the button may be disabled on that page.
async function turn(to, button = true) {
	if (await load(to, undefined, () => turn(to, button))) return;
	history.pushState(place, "", "#pets");
	if (button) byId("list-heading").focus();
}

function turnBack() {
	const { status, number, earlier } = place;
	turn(status ? { status, number: number - 1, cursor: earlier.at(-1), earlier: earlier.slice(0, -1) } : { status, number: number - 1, earlier: [] });
}

// showPet shows the page of all pets with the pet of an ID, and marks it. The address
// names the pet.
async function showPet(id) {
	if (petInAddress() !== id) history.pushState(null, "", "#pet-" + id);
	const refusal = await load({ status: "", number: Math.max(1, Math.ceil(id / pageSize)), earlier: [] }, id);
	if (refusal) return refusal;
	history.replaceState(place, "");
	byId("pet-" + id)?.scrollIntoView({ block: "nearest" });
}

// petInAddress returns the ID of the pet that the address names.
const petInAddress = () => location.hash.match(/^#pet-0*(\d+)$/)?.[1];

// showAddress shows the pet that the address names, or the place in the history.
async function showAddress() {
	if (petInAddress()) return showPet(petInAddress());
	const refusal = await load(history.state ?? firstPage());
	if (!refusal) history.replaceState(place, "");
	return refusal;
}

// loadFacts shows the counts. It returns them with the cursor of a page of all pets.
async function loadFacts(number = 1) {
	const { value: facts } = await ask("GET", new URL("about?page=" + number, location));
	const show = (name, text) => (document.querySelector(`[data-fact=${name}]`).textContent = text);
	show("pets", facts.pets.toLocaleString("en"));
	show("queuedMessages", facts.queuedMessages.toLocaleString("en"));
	return facts;
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
	const used = (creation ||= newID());
	const button = form.querySelector("[type=submit]");
	button.setAttribute("aria-busy", "true");
	complain(form, "", "");
	byId("added").textContent = "";
	try {
		const headers = { "Content-Type": "application/json", "Idempotency-Key": creation };
		const { value: pet } = await ask("POST", new URL("pets", base), headers, `{${members.join()}}`);
		if (creation === used) { // the user has not gone on
			form.reset();
			creation = "";
		}
		byId("added").replaceChildren("Pet ", el("a", { href: "#pet-" + pet.id }, String(pet.id)), " was added.");
		form.elements.name.focus({ preventScroll: true });
		await showPet(String(pet.id));
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

// newID returns a random key. crypto.randomUUID needs HTTPS.
const newID = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

function startPets() {
	byId("filter").addEventListener("change", () => turn(firstPage(filter()), false));
	byId("first").addEventListener("click", () => turn(firstPage(place.status)));
	byId("previous").addEventListener("click", turnBack);
	byId("next").addEventListener("click", () => turn({ ...place, number: place.number + 1, cursor: following, earlier: place.status ? [...place.earlier, place.cursor] : [] }));
	byId("last").addEventListener("click", () => turn({ status: "", number: last, earlier: [] }));
	byId("refresh").addEventListener("click", () => load(place));
	byId("find").addEventListener("submit", (event) => {
		event.preventDefault();
		const id = byId("find-id").value.match(/^\s*0*(\d+)\s*$/)?.[1];
		if (id) showPet(id);
		else showProblem(new Error("An ID is a number, such as 7."), () => byId("find-id").focus());
	});
	byId("add").addEventListener("submit", addPet);
	byId("add").addEventListener("input", () => {
		creation = "";
		complain(byId("add"), "", "");
	});
	byId("json-close").addEventListener("click", () => byId("json").close());
}
