// The views and the key. This part starts the page.

// show shows the view that the address names. If the user went there (moved), the focus
// follows, but stays where it is on the way from one place of the list to another.
function show(moved) {
	const view = byId(placeInAddress() ? "store" : "api");
	const stays = !view.hidden && placeInAddress();
	for (const other of document.querySelectorAll(".view")) other.hidden = other !== view;
	for (const a of document.querySelectorAll(".views a")) a.ariaCurrent = a.dataset.view === view.id ? "page" : null;
	document.title = view.querySelector("h1").textContent + " · Animal Store";
	if (moved && !stays) focusOn(byId(location.hash.slice(1)) ?? view);
	if (!placeInAddress()) return;
	if (key) load();
	else lock("");
}

// focusOn moves the focus to a part of the page, or to the heading of a view.
function focusOn(part) {
	const target = part.matches(".view") ? part.querySelector("h1") : part;
	// The browser may have moved the focus, and the user may have gone on from there.
	if (!target.contains(document.activeElement)) target.focus({ preventScroll: true });
	if (target === part) target.scrollIntoView();
	else scrollTo(0, 0);
}

// useKey tries the key in the field.
async function useKey(event) {
	event.preventDefault();
	key = byId("key-field").value.trim();
	if (key === "") return lock("Enter a key.");
	if (/[^!-~]/.test(key)) return lock("A key has no spaces, accents or symbols of other scripts.");
	await load();
	if (key) focusOn(byId("store"));
}

// unlock shows what needs a key, which the server has not refused.
function unlock() {
	keep();
	byId("key-field").value = "";
	complain(byId("key-field"), "");
	setLocked(false);
}

// lock forgets the key and the pets that were shown with it, and asks for another.
function lock(message) {
	key = "";
	keep();
	loading++;
	for (const shown of document.querySelectorAll("#list tbody, #added, #shown, #problem, #find .error, .result")) shown.replaceChildren();
	setLocked(true);
	complain(byId("key-field"), message);
	byId("key-field").focus();
}

function setLocked(locked) {
	byId("locked").hidden = !locked;
	for (const id of ["unlocked", "forget"]) byId(id).hidden = locked;
	byId("store").classList.toggle("narrow", locked);
}

for (const button of document.querySelectorAll("[data-to]")) button.addEventListener("click", () => byId(button.dataset.to).focus());
byId("key").addEventListener("submit", useKey);
byId("forget").addEventListener("click", () => {
	location.hash = "#pets";
	lock("");
});
addEventListener("hashchange", () => show(true));
key = kept();
if (key) unlock();
startPets();
show(false);
loadAPI();
