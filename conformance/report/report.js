// Filters, and copying of curl lines. Without it the page shows everything.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const buttons = all("nav button");
  const search = document.querySelector("input[type=search]");
  const nothing = document.querySelector(".nothing");
  let show = "";

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((w) => text.includes(w));
    let any = false;
    for (const clause of all(".clause")) {
      const heading = clause.querySelector(".text").textContent.toLowerCase() + " " + clause.querySelector(".section").textContent;
      let some = false;
      for (const check of all(".check", clause)) {
        const text = heading + " " + check.querySelector("summary").textContent.toLowerCase();
        check.hidden = (show && check.dataset.verdict !== show) || !matches(text);
        some ||= !check.hidden;
      }
      clause.hidden = clause.classList.contains("untestable") ? Boolean(show) || !matches(heading) : !some;
      if (clause instanceof HTMLDetailsElement) {
        clause.open = show || words.length ? some : "open" in clause.dataset;
      }
      any ||= !clause.hidden;
    }
    for (const item of all(".problems li")) {
      item.hidden = (show && item.dataset.verdict !== show) || !matches(item.textContent.toLowerCase());
    }
    for (const part of all(".problems")) part.hidden = all("li", part).every((item) => item.hidden);
    for (const part of all(".part")) part.hidden = all(".clause", part).every((c) => c.hidden);
    nothing.hidden = any;
  }

  for (const button of buttons) {
    button.addEventListener("click", () => {
      show = button.dataset.show;
      for (const b of buttons) b.setAttribute("aria-pressed", String(b === button));
      filter();
    });
  }
  search.addEventListener("input", filter);

  document.addEventListener("click", async (event) => {
    if (!event.target.matches(".copy")) return;
    const pre = event.target.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(pre.textContent);
      event.target.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(pre); // a file may not write to the clipboard everywhere
      event.target.textContent = "selected";
    }
  });

  // A link to a check opens what hides it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e instanceof HTMLDetailsElement) e.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
