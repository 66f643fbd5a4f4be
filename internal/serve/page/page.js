// The views and the key. This part starts the page.

// show shows the view that the address names: #pets, #api, or a part of one.
// If the user went there (moved), the focus follows.
function show(moved) {
	const name = location.hash.slice(1);
	const target = (!name.startsWith("pet-") && byId(name)) || byId("pets");
	let view = target.closest(".view");
	if (!view && moved) return; // the target is outside the views
	view ??= byId("pets");
	for (const other of document.querySelectorAll(".view")) other.hidden = other !== view;
	for (const a of document.querySelectorAll(".views a")) {
		if (a.hash === "#" + view.id) a.setAttribute("aria-current", "page");
		else a.removeAttribute("aria-current");
	}
	document.title = (view.id === "pets" ? "Pets" : "API") + " · Animal Store";
	if (!moved || petInAddress()) return;
	for (let e = target; e; e = e.parentElement) if (e.matches("details")) e.open = true;
	const heading = target === view ? view.querySelector("h1") : target;
	// The browser may have moved the focus, and the user may have gone on from there.
	if (!heading.contains(document.activeElement)) heading.focus({ preventScroll: true });
	if (target === view) scrollTo(0, 0);
	else target.scrollIntoView();
}

// useKey tries the key in the field.
async function useKey(event) {
	event.preventDefault();
	const field = byId("key-field");
	key = field.value.trim();
	byId("key-error").textContent = "";
	const wrong = key === "" ? "Enter a key." : /[^!-~]/.test(key) ? "A key has no spaces, accents or symbols of other scripts." : "";
	if (wrong) return lock(wrong);
	const refusal = await showAddress();
	if (!key) return; // the server refused it
	if (refusal?.status === 0 || refusal?.status >= 500) return lock(refusal.message);
	unlock();
	byId("pets").querySelector("h1").focus();
}

// unlock shows what needs a key.
function unlock() {
	keep();
	byId("key-field").value = "";
	byId("key-field").removeAttribute("aria-invalid");
	setLocked(false);
}

// lock forgets the key and the pets that were shown with it, and asks for another.
function lock(message) {
	key = "";
	keep();
	loading++;
	byId("problem").hidden = true;
	byId("list").tBodies[0].replaceChildren();
	for (const shown of document.querySelectorAll("#added, #shown, #json-body, .result")) shown.replaceChildren();
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
	history.pushState(null, "", "#pets");
	show(false);
	lock("");
});
addEventListener("hashchange", () => {
	show(true);
	if (!key || history.state) return; // popstate loads a state
	if (petInAddress()) showAddress();
	else history.replaceState(place, ""); // so that Back returns to what is shown here
});
addEventListener("popstate", ({ state }) => key && state && load(state, petInAddress()));
setLocked(true);
startPets();
show(false);
key = kept();
if (key) {
	unlock();
	showAddress();
}
loadAPI();
