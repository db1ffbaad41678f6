// The page can be read without this script, which adds: documents, the dial, definitions, sorting, filtering, and the state in the address.
const all = (query, inside = document) => [...inside.querySelectorAll(query)];
const make = (tag, about = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), about);
  made.append(...children);
  return made;
};
const { examples, dial } = JSON.parse(document.getElementById("data").textContent);

// The state of the page stands in the address: #doc=2&first=mlm&ratio=0.5&open=table-comparisons_text.
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const keep = (values) => {
  for (const [name, value] of Object.entries(values)) value === "" ? state.delete(name) : state.set(name, value);
  history.replaceState(null, "", state.size ? `#${state}` : location.pathname + location.search);
};

// A tip tells the definition of an arm, or the numbers of a point, on hover and focus.
const tip = document.body.appendChild(make("div", { id: "tip", hidden: true, role: "tooltip" }));
const tell = (lines, at) => {
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line) => make("div", { textContent: line })));
  const box = at.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height];
  tip.style.left = `${Math.max(8, Math.min(x + 8, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 8 + tip.offsetHeight > innerHeight ? box.y - 8 - tip.offsetHeight : y + 8}px`;
};
addEventListener("keydown", (event) => event.key === "Escape" && tell(null));
addEventListener("scroll", () => tell(null), { passive: true, capture: true });

// Each mention of an arm links to its card and shows its definition.
const cards = new Map(all(".card").map((card) => [card.dataset.arm, card]));
const definition = (arm) => {
  const card = cards.get(arm);
  return [`${arm} (${card.querySelector(".family").textContent}) ${card.querySelector(".sight").getAttribute("aria-label")}`, card.querySelector(".line").textContent, card.querySelector(".scores").textContent.trim()];
};
const names = [...cards.keys()].sort((a, b) => b.length - a.length);
const mention = names.length ? new RegExp(`(?<![\\w-])(${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})(?![\\w-])`, "g") : /(?!)/g;
const toCard = (arm) => {
  const card = cards.get(arm);
  if (card.closest("details")) card.closest("details").open = true;
  card.scrollIntoView({ block: "center" });
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
};
const link = (root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest("a, svg, button, select, label, script, code, .card, .blank, summary, nav, h1")) continue;
    const closed = node.parentElement.closest("details:not([open])");
    if (!closed && node.data.search(mention) >= 0) found.push(node);
  }
  for (const node of found) {
    const parts = node.data.split(mention);
    node.replaceWith(...parts.map((part, i) => (i % 2 ? make("a", { className: "arm", href: `#arm-${part}`, textContent: part }) : part)));
  }
  for (const text of all("svg text", root)) {
    const arm = text.textContent.split(" ")[0];
    if (!cards.has(arm) || text.dataset.arm) continue;
    text.classList.add("arm");
    text.dataset.arm = arm;
    for (const [name, value] of [["tabindex", 0], ["role", "link"], ["aria-label", `${text.textContent}: ${definition(arm).join("; ")}`]]) text.setAttribute(name, value);
  }
};
const armOf = (target) => {
  const at = target.closest && target.closest("a.arm, text.arm");
  return at && [at.dataset.arm ?? at.textContent, at];
};
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const found = armOf(event.target);
    if (found) tell(definition(found[0]), found[1]);
  });
}
for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, (event) => armOf(event.target) && tell(null));
document.addEventListener("click", (event) => {
  const found = armOf(event.target);
  if (!found) return;
  event.preventDefault();
  toCard(found[0]);
});
document.addEventListener("keydown", (event) => event.key === "Enter" && event.target.matches?.("text.arm") && toCard(event.target.dataset.arm));

// Arrow keys go from one item of a group to the next; one of them takes part in the tab order.
const rove = (group, query) => {
  const shown = () => all(query, group).filter((item) => item.getClientRects().length);
  all(query, group).forEach((item, i) => item.setAttribute("tabindex", i ? -1 : 0));
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const item = event.target.closest(query);
    if (!step || !item) return;
    const items = shown();
    items.at((items.indexOf(item) + step) % items.length).focus();
    event.preventDefault();
  });
};

// One document: the text with its blanks, and below each blank what two arms wrote.
const WHOLE = ["random", "spans", "continuation"]; // strategies whose ratio is a share of all words
const percent = (ratio) => `${Math.round(100 * ratio)} %`;
const explorer = document.querySelector(".explorer");
let showDocument = () => {};
if (explorer) {
  const box = explorer.closest("section");
  const [select, first, second] = ["document", "first", "second"].map((name) => box.querySelector(`[name=${name}]`));
  all("[hidden]", box).forEach((part) => (part.hidden = false));
  select.append(...examples.map((one, i) => make("option", { value: i, textContent: `${one.name} (${one.strategy.replaceAll("_", " ")} ${percent(one.ratio)})` })));
  const start = Math.max(0, examples.findIndex((one) => dial.ratios && one.ratio === dial.ratios[dial.main]));
  const asked = Number(state.get("doc") ?? start);
  select.value = examples[asked] ? asked : start;
  const fill = (side, at, arms) => {
    const chosen = side.value || state.get(side.name);
    side.replaceChildren(...arms.map((arm) => make("option", { value: arm, textContent: arm })));
    side.value = arms.includes(chosen) ? chosen : arms[Math.min(at, arms.length - 1)];
  };
  const judge = (written, original) =>
    written === 1 ? [original, true] : Array.isArray(written) ? [written[0], true] : [written, false];
  showDocument = () => {
    const one = examples[select.value];
    const arms = Object.keys(one.arms);
    fill(first, 0, arms);
    fill(second, 1, arms);
    const pair = [first.value, second.value];
    const text = make("p", { className: "lines" }, one.kept[0]);
    one.originals.forEach((original, i) => {
      const fills = pair.map((arm) => judge(one.arms[arm][i], original));
      const told = pair.map((arm, k) => `${arm}: ${fills[k][0] || "nothing"}, ${fills[k][1] ? "right" : "wrong"}`);
      const blank = make("span", { className: "blank" }, make("span", { className: "original", textContent: original }),
        ...fills.map(([written, isRight]) => make("span", { className: isRight ? "right" : "wrong", textContent: written || "∅" })));
      blank.setAttribute("role", "img");
      blank.setAttribute("aria-label", [`blank ${i + 1}: ${original}`, ...told].join("; "));
      text.append(blank, one.kept[i + 1]);
    });
    explorer.replaceChildren(text);
    rove(text, ".blank");
    const counts = pair.map((arm) => one.arms[arm].filter((written, i) => judge(written, one.originals[i])[1]).length);
    const score = box.querySelector(".score");
    score.replaceChildren(`${percent(one.ratio)} of the words${WHOLE.includes(one.strategy) ? "" : ` of ${one.strategy.replaceAll("_", " ")}`} are hidden. Below each blank, in this order: `,
      ...pair.flatMap((arm, k) => [k ? " and " : "", arm, ` (${counts[k]} of ${one.originals.length} right)`]), ". ",
      make("span", { className: "key right", textContent: "right" }), " ", make("span", { className: "key wrong", textContent: "wrong" }), " Point at a blank for the original.");
    const texts = Object.entries(one.texts);
    box.querySelector(".texts").replaceChildren(...texts.flatMap(([arm, words]) => [make("h3", { textContent: `${arm}, which writes the whole text anew` }), make("p", { textContent: words })]));
    link(box);
  };
  const change = () => {
    showDocument();
    keep({ doc: select.value, first: first.value, second: second.value });
  };
  for (const side of [select, first, second]) side.addEventListener("input", change);
  for (const button of all(".step", box)) {
    button.addEventListener("click", () => {
      select.value = (Number(select.value) + Number(button.dataset.step) + examples.length) % examples.length;
      change();
    });
  }
  const ask = (event) => {
    const blank = event.target.closest(".blank");
    tell(blank && blank.getAttribute("aria-label").split("; "), blank);
  };
  explorer.addEventListener("pointerover", ask);
  explorer.addEventListener("focusin", ask);
  explorer.addEventListener("pointerleave", () => tell(null));
  explorer.addEventListener("focusout", () => tell(null));
  showDocument();
}

// The dial: scores, lead and document at a masking ratio.
const form = document.querySelector("form.dial");
if (form) {
  const { ratio, corpus } = form.elements;
  const table = document.querySelector(".dialled");
  const written = (cell, digits, sign) => {
    if (!cell) return "–";
    const number = (value) => (sign && value > 0 ? "+" : "") + value.toFixed(digits);
    return number(cell[0]) + (cell[1] === null ? "" : ` [${number(cell[1])}, ${number(cell[2])}]`);
  };
  const turn = () => {
    const at = dial.ratios[ratio.value];
    form.querySelector("output").textContent = percent(at);
    ratio.setAttribute("aria-valuetext", percent(at));
    const cells = dial.values[corpus.value][ratio.value];
    const most = Math.max(...Object.values(dial.values[corpus.value]).flatMap((row) => Object.values(row).map((cell) => cell[0][0])));
    const head = make("tr", {}, ...["arm", "BLEU (0–100)", "exact match (0–1)", "lead (BLEU)"].map((name) => make("th", { scope: "col", textContent: name })));
    const rows = Object.entries(cells).map(([arm, [bleu, exact, lead]]) => {
      const bar = make("span", { className: `bar ${dial.families[arm]}` });
      bar.style.width = `${(6 * bleu[0]) / most}rem`;
      return make("tr", {}, make("th", { scope: "row", textContent: arm }), make("td", {}, bar, written(bleu, 1)), make("td", { textContent: written(exact, 3) }), make("td", { textContent: written(lead, 1, true) }));
    });
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
    link(table);
    const chosen = explorer && examples.findIndex((one) => one.ratio === at && one.strategy === dial.strategy);
    const select = document.querySelector("#document [name=document]");
    if (explorer && chosen >= 0 && examples[select.value].ratio !== at) {
      select.value = chosen;
      showDocument();
    }
  };
  form.hidden = false;
  if (state.has("ratio")) ratio.value = Math.max(0, dial.ratios.indexOf(Number(state.get("ratio"))));
  if (state.has("corpus") && state.get("corpus") in dial.values) corpus.value = state.get("corpus");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    turn();
    keep({ ratio: dial.ratios[ratio.value], corpus: corpus.value });
  });
  turn();
}

// A point tells its numbers.
for (const figure of all(".panels")) {
  const told = (point) => {
    all(".point.told").forEach((one) => one.classList.remove("told"));
    if (point) point.classList.add("told");
    tell(point && point.getAttribute("aria-label").split("; "), point);
  };
  const far = (point, event) => {
    const box = point.getBoundingClientRect();
    return Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
  };
  rove(figure, ".point");
  figure.addEventListener("pointermove", (event) => {
    if (armOf(event.target)) return;
    const svg = event.target.closest("svg");
    const near = svg && all(".point", svg).filter((point) => point.getClientRects().length).sort((a, b) => far(a, event) - far(b, event))[0];
    told(near && far(near, event) < 30 ? near : null);
  });
  figure.addEventListener("pointerleave", () => told(null));
  figure.addEventListener("focusin", (event) => event.target.closest(".point") && told(event.target.closest(".point")));
  figure.addEventListener("focusout", () => told(null));
}

// A choice hides what it does not name: `name` of a field is the data attribute that it decides about.
for (const choices of all(".choices")) {
  const choose = () => {
    for (const name of new Set(all("[name]", choices).map((field) => field.name))) {
      const chosen = new FormData(choices).getAll(name);
      if (name === "corpus") choices.nextElementSibling.style.setProperty("--corpora", chosen.length || 1);
      for (const part of all(`[data-${name}]`, choices.parentElement)) part.classList.toggle(`off-${name}`, !chosen.includes(part.dataset[name]));
    }
  };
  choices.hidden = false;
  choices.addEventListener("input", choose);
  choose();
}

// A header sorts its table: numbers first to last, words by their letters, missing entries always at the end.
const sort = (head, sign) => {
  const table = head.closest("table");
  const isNumber = table.classList.contains(`n${head.cellIndex + 1}`);
  const key = (row) => {
    const text = row.cells[head.cellIndex].textContent;
    return isNumber ? parseFloat((/(?<=^|\s)[-+±<]?[\d,]*\.?\d+(?:e[-+]?\d+)?/.exec(text) ?? [""])[0].replace(/[,<±]/g, "")) : text;
  };
  const compare = (a, b) => {
    if (!isNumber) return a.localeCompare(b) * sign;
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return (a - b) * sign;
  };
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
};
for (const table of all("details.table")) {
  all("th button", table).forEach((button, place) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      sort(head, sign);
      keep({ sort: `${table.id}.${place}.${sign}` });
    });
  });
  table.querySelector(".csv").addEventListener("click", () => {
    const quote = (cell) => `"${cell.textContent.replaceAll('"', '""').trim()}"`;
    const lines = all("tr", table.querySelector("table")).map((row) => [...row.cells].map(quote).join(","));
    const address = URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
    make("a", { href: address, download: `${table.id.replace("table-", "")}.csv` }).click();
    URL.revokeObjectURL(address);
  });
}

// One box filters the rows of all tables: a row stays that has every word; a table without such a row goes.
const filter = document.getElementById("filter");
if (filter) {
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const table of all("details.table")) {
      const rows = [...table.querySelector("tbody").rows];
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      table.hidden = rows.every((row) => row.hidden);
    }
  };
  filter.hidden = false;
  filter.value = state.get("filter") ?? "";
  filter.addEventListener("input", () => {
    apply();
    keep({ filter: filter.value });
  });
  if (filter.value) apply();
}

// What opens is linked to the cards of its arms, and its name stands in the address.
for (const details of all("main details")) {
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    link(details);
    if (details.id) keep({ open: details.id });
  });
}
const open = (part) => {
  for (let outer = part; outer; outer = outer.parentElement) if (outer.tagName === "DETAILS") outer.open = true;
};
const follow = () => {
  const part = document.getElementById(state.get("open") ?? location.hash.slice(1));
  if (!part) return;
  open(part);
  part.scrollIntoView();
};
if (state.has("sort")) {
  const [id, place, sign] = state.get("sort").split(".");
  const heads = all(`#${CSS.escape(id)} thead th`);
  if (heads[place]) sort(heads[place], Number(sign));
}
document.addEventListener("click", (event) => {
  const part = event.target.closest?.('a[href^="#"]:not(.arm)') && document.getElementById(event.target.closest("a").hash.slice(1));
  if (part) open(part);
});
link(document.querySelector("main"));
follow();

// The contents mark the place, and are closed on a narrow screen.
const contents = all("nav a");
const parts = contents.map((one) => document.getElementById(one.hash.slice(1)));
const mark = () => {
  const place = parts.findLastIndex((part) => part.getBoundingClientRect().top < innerHeight / 3);
  contents.forEach((one, i) => (i === Math.max(0, place) ? one.setAttribute("aria-current", "location") : one.removeAttribute("aria-current")));
};
document.querySelector("nav details").open = innerWidth >= 1024;
addEventListener("scroll", mark, { passive: true });
mark();
