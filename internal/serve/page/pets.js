// The view of the pets: the list, the field to find a pet, and the form to add one.

// placeInAddress returns what the list shows, as a path below the base address: pets, a
// query of it, or pets/7. It is the fragment of the page's address, which can be sent to
// others. It returns undefined if the address names a part of the API.
//
// The state in the history counts the pages of the list that were visited one after the
// other to get there. If there are any, Previous goes back in the history.
const placeInAddress = () => (location.hash || "#pets").match(/^#(pets(?:\/\d+|\?.*)?)$/)?.[1];

// following is the place of the next page, "" at the end.
let following = "";

// loading counts the loads, so that only the last one is shown.
let loading = 0;

// load shows the place in the address.
async function load() {
	const own = ++loading;
	const place = placeInAddress();
	const url = new URL(place, base);
	const status = url.searchParams.get("status");
	const filter = "#" + place.replace(/\?.*/, status ? "?status=" + status : "");
	for (const a of document.querySelectorAll("#filter a")) a.ariaCurrent = a.hash === filter ? "true" : null;
	byId("list").ariaBusy = "true";
	following = "";
	try {
		const { response, value } = await ask("GET", url);
		if (own !== loading) return;
		following = nextPlace(response);
		const pets = [value].flat();
		showPets(pets);
		byId("shown").textContent = describe(pets, status);
		byId("problem").replaceChildren();
	} catch (error) {
		if (own !== loading) return;
		if (error.status === 401) return lock(error.message);
		showPets([]);
		byId("shown").textContent = "";
		byId("problem").replaceChildren(noticeOf(error, load));
	}
	unlock();
	byId("list").ariaBusy = "false";
}

// describe returns which pets are in the list.
function describe(pets, status) {
	if (pets.length === 0) return status ? `No pet is ${status}.` : "There are no pets yet. Add the first one.";
	const filter = document.querySelector("#filter [aria-current]")?.textContent;
	return filter ? `${filter} pets: ${pets[0].id} to ${pets.at(-1).id}` : `Pet ${pets[0].id}`;
}

function showPets(pets) {
	byId("list").tBodies[0].replaceChildren(...pets.map(petRow));
	byId("list").hidden = pets.length === 0;
	for (const button of document.querySelectorAll(".previous")) button.ariaDisabled = String(!history.state);
	for (const button of document.querySelectorAll(".next")) button.ariaDisabled = String(!following);
}

// linked returns the ID of a pet, as a link.
const linked = (id) => el("a", { href: "#pets/" + id }, String(id));

function petRow(pet) {
	const cell = (content, label) => el("td", { role: "cell", "data-label": label }, content);
	return el("tr", { role: "row" },
		cell(linked(pet.id), "ID"),
		cell(pet.name === "" ? el("em.soft", {}, "no name") : el("bdi.name", {}, pet.name)),
		cell(String(pet.categoryId), "Category"),
		cell(pet.status ? el("span.status." + pet.status, {}, pet.status) : el("span.soft", {}, "no status")));
}

function turnOn() {
	if (!following) return;
	history.pushState((history.state ?? 0) + 1, "", "#" + following);
	load();
}

function turnBack() {
	if (history.state) history.back();
}

// find goes to the pet of the ID in the field, if there is one.
async function find(event) {
	event.preventDefault();
	const field = byId("find-id");
	const id = field.value.match(/^\s*0*(\d+)\s*$/)?.[1];
	complain(field, id ? "" : "An ID is a number, such as 7.");
	if (!id) return;
	try {
		await ask("GET", new URL("pets/" + id, base));
		location.hash = "#pets/" + id;
	} catch (error) {
		if (error.status === 401) lock(error.message);
		else complain(field, error.message);
	}
}

// creation is the Idempotency-Key of the pet in the form, so that a second try after
// a lost response does not add the pet twice. "": the next try gets a new one.
let creation = "";

// addPet sends what is in the form, right or wrong: the server judges it, and its
// message begins with the name of the field at fault. What is not a number is sent
// as a string, which the message need not say. An empty field is left out. If required
// ones are empty, nothing is sent: the server would name only one.
async function addPet(event) {
	event.preventDefault();
	const form = byId("add");
	const members = [];
	for (const field of form.querySelectorAll("[name]")) {
		complain(field, "");
		const { name, value } = field;
		const number = name === "categoryId" && /^\s*-?(0|[1-9]\d*)\s*$/.test(value);
		if (value !== "") members.push(`"${name}":${number ? value.trim() : JSON.stringify(value)}`);
	}
	for (const id of ["added", "add-error"]) byId(id).textContent = "";
	const blame = (field, message) => complain(field, `${field.labels[0].firstChild.data.trim()} ${message}`);
	const missing = [form.elements.categoryId, form.elements.name].filter(({ value }) => value === "");
	for (const field of missing) blame(field, "is missing"); // the upper one is last, and gets the focus
	if (missing.length > 0) return;
	const used = (creation ||= newID());
	try {
		const headers = { "Content-Type": "application/json", "Idempotency-Key": creation };
		const { value: pet } = await ask("POST", new URL("pets", base), headers, `{${members.join()}}`);
		if (creation === used) { // the user has not gone on
			form.reset();
			creation = "";
		}
		byId("added").replaceChildren("Pet ", linked(pet.id), " was added.");
		form.elements.name.focus({ preventScroll: true });
		if (placeInAddress()) load();
	} catch (error) {
		if (error.status === 401) return lock(error.message);
		const [, name, rest] = error.message.match(/^(\w+): ([^]*?)(, not a string)?$/) ?? [];
		const field = form.elements[name];
		if (error.status === 400 && field) blame(field, rest);
		else byId("add-error").textContent = error.message;
	}
}

// newID returns a random key. crypto.randomUUID needs HTTPS.
const newID = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

function startPets() {
	for (const button of document.querySelectorAll(".previous")) button.addEventListener("click", turnBack);
	for (const button of document.querySelectorAll(".next")) button.addEventListener("click", turnOn);
	byId("find").addEventListener("submit", find);
	byId("add").addEventListener("submit", addPet);
	byId("add").addEventListener("input", ({ target }) => {
		creation = "";
		complain(target, "");
		byId("add-error").textContent = "";
	});
}
