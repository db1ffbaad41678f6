// Sort a table by a column: numbers by data-sort, words by their text, missing entries always last.
for (const button of document.querySelectorAll(".sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const key = (row) => (numeric ? Number(row.cells[column].dataset.sort ?? NaN) : row.cells[column].textContent);
    const compare = (a, b) => {
      if (!numeric) return key(a).localeCompare(key(b)) * (down ? -1 : 1);
      if (isNaN(key(a)) || isNaN(key(b))) return isNaN(key(a)) - isNaN(key(b));
      return (key(a) - key(b)) * (down ? -1 : 1);
    };
    body.append(...[...body.rows].sort(compare));
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  });
}
