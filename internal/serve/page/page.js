// The views and the key. This part starts the page.

// show shows the view that the address names: #pets, #api, or a part of one.
// If the user went there (moved), the focus follows.
function show(moved) {
	const target = byId(location.hash.slice(1)) ?? byId("pets");
	let view = target.closest(".view");
	if (!view && moved) return; // the target is outside the views
	view ??= byId("pets");
	for (const other of document.querySelectorAll(".view")) other.hidden = other !== view;
	for (const a of document.querySelectorAll(".views a")) {
		if (a.hash === "#" + view.id) a.setAttribute("aria-current", "page");
		else a.removeAttribute("aria-current");
	}
	document.title = (view.id === "pets" ? "Pets" : "API") + " · Animal Store";
	if (!moved) return;
	for (let e = target; e; e = e.parentElement) if (e.matches("details")) e.open = true;
	const heading = target === view ? view.querySelector("h1") : target;
	// The browser may have moved the focus, and the user may have gone on from there.
	if (!heading.contains(document.activeElement)) heading.focus({ preventScroll: true });
	if (target === view) scrollTo(0, 0);
	else target.scrollIntoView();
}

// useKey tries the key in the field, and unlocks the page if the server accepts it.
async function useKey(event) {
	event.preventDefault();
	const field = byId("key-field");
	key = field.value.trim();
	byId("key-error").textContent = "";
	const wrong = key === "" ? "Enter a key." : /[^!-~]/.test(key) ? "A key has no spaces, accents or symbols of other scripts." : "";
	if (wrong) return lock(wrong);
	byId("filter").querySelector("input").checked = true;
	const refusal = await load(firstPage(), []);
	if (refusal) {
		if (refusal.status !== 401) lock(refusal.message);
		return;
	}
	field.value = "";
	field.removeAttribute("aria-invalid");
	setLocked(false);
	loadFacts();
	byId("pets").querySelector("h1").focus();
}

// lock forgets the key and everything that was shown with it, and asks for another.
function lock(message) {
	key = "";
	loading++;
	byId("list").tBodies[0].replaceChildren();
	for (const shown of document.querySelectorAll("#added, #json-body, .result")) shown.replaceChildren();
	for (const fact of document.querySelectorAll("[data-fact]")) fact.textContent = "…";
	setLocked(true);
	const field = byId("key-field");
	byId("key-error").textContent = message;
	if (message) field.setAttribute("aria-invalid", "true");
	else field.removeAttribute("aria-invalid");
	field.focus();
}

function setLocked(locked) {
	byId("locked").hidden = !locked;
	for (const id of ["unlocked", "forget"]) byId(id).hidden = locked;
	byId("pets").classList.toggle("narrow", locked);
	byId("pets").querySelector("h1").textContent = locked ? "Animal Store" : "Pets";
}

byId("key").addEventListener("submit", useKey);
byId("forget").addEventListener("click", () => {
	location.hash = "#pets";
	show(false);
	lock("");
});
addEventListener("hashchange", () => show(true));
setLocked(true);
startPets();
show(false);
loadAPI();
