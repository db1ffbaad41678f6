// The page is whole without this script, which adds: numbers at a point, choices, sorting and filtering.
const all = (query, inside = document) => [...inside.querySelectorAll(query)];

// A point tells its numbers on hover and focus; arrow keys go from point to point.
const tip = document.body.appendChild(Object.assign(document.createElement("div"), { id: "tip", hidden: true }));
tip.setAttribute("aria-hidden", "true"); // the point's own label says the same
const place = (point) => {
  const box = point.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
const tell = (point) => {
  all(".point.told").forEach((one) => one.classList.remove("told"));
  tip.hidden = !point;
  if (!point) return;
  point.classList.add("told");
  tip.replaceChildren(...point.getAttribute("aria-label").split("; ").map((line) => Object.assign(document.createElement("div"), { textContent: line })));
  const [x, y] = place(point);
  tip.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 12 + tip.offsetHeight > innerHeight ? y - 12 - tip.offsetHeight : y + 12}px`;
};
for (const figure of all(".panels")) {
  const shown = (inside) => all(".point", inside).filter((point) => point.getClientRects().length);
  all(".point", figure).forEach((point, i) => point.setAttribute("tabindex", i ? -1 : 0));
  figure.addEventListener("pointermove", (event) => {
    const svg = event.target.closest("svg");
    const far = (point) => Math.hypot(place(point)[0] - event.clientX, place(point)[1] - event.clientY);
    const near = svg && shown(svg).sort((a, b) => far(a) - far(b))[0];
    tell(near && far(near) < 30 ? near : null);
  });
  figure.addEventListener("pointerleave", () => tell(null));
  figure.addEventListener("focusin", (event) => tell(event.target.closest(".point")));
  figure.addEventListener("focusout", () => tell(null));
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") tell(null);
    if (!step || !event.target.closest(".point")) return;
    const points = shown(figure);
    points.at((points.indexOf(event.target) + step) % points.length).focus();
    event.preventDefault();
  });
}

// A choice hides what it does not name: `name` of a field is the data attribute that it decides about.
for (const form of all(".choices")) {
  const choose = () => {
    for (const name of new Set(all("[name]", form).map((field) => field.name))) {
      const chosen = new FormData(form).getAll(name);
      if (name === "corpus") form.nextElementSibling.style.setProperty("--corpora", chosen.length || 1);
      for (const part of all(`[data-${name}]`, form.parentElement)) {
        const isOff = !chosen.includes(part.dataset[name]);
        part.classList.toggle(`off-${name}`, isOff);
        if (part.tagName === "DETAILS") part.open = !isOff;
      }
    }
  };
  form.hidden = false;
  form.addEventListener("input", choose);
  choose();
}

// A header sorts its table: numbers first to last, words by their letters, missing entries always at the end.
for (const button of all(".sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const isNumber = head.classList.contains("n");
    const key = ({ cells: { [column]: cell } }) =>
      isNumber ? parseFloat(cell.dataset.sort ?? cell.textContent.replaceAll(",", "")) : cell.textContent;
    const compare = (a, b) => {
      if (!isNumber) return key(a).localeCompare(key(b)) * sign;
      if (isNaN(key(a)) || isNaN(key(b))) return isNaN(key(a)) - isNaN(key(b));
      return (key(a) - key(b)) * sign;
    };
    body.append(...[...body.rows].sort(compare));
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  });
}

// One box filters the rows of all tables: a row stays that has every word; a table without such a row goes.
const filter = document.getElementById("filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const table of all(".sortable")) {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    table.closest("figure").hidden = rows.every((row) => row.hidden);
  }
});
