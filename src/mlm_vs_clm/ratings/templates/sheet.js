// One text at a time; answers stay in this browser until the rater saves them as a file.
const at = (id) => document.getElementById(id);
let answers = null; // {rater, round, started, items: {<item>/<part>: {<question>, seen, seconds}}}
let order = [];
let current = 0;
let since = null; // when the open text came into sight, in ms

// Each rater has an order of their own, the same at every visit: another block first, other neighbours in a block.
// So tiredness spreads over the arms, and a document still comes back only after all the others.
function arrange(texts, name) {
  let state = 2166136261;
  for (const letter of name) state = Math.imul(state ^ letter.codePointAt(0), 16777619);
  const draw = (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
  const blocks = [...new Set(texts.map((text) => text.block))];
  const first = draw(blocks.length);
  return [...blocks.slice(first), ...blocks.slice(0, first)].flatMap((block) => {
    const rest = texts.filter((text) => text.block === block);
    return Array.from({ length: rest.length }, () => rest.splice(draw(rest.length), 1)[0]);
  });
}

const radios = (name) => document.getElementsByName(name);
// A second round has an order and a memory of its own.
const place = (rater, round) => `ratings/${SHEET}/${rater}${round > 1 ? `/${round}` : ""}`;
const asked = () => PARTS[order[current].part];

function load(rater, round) {
  const fresh = { rater, round, started: new Date().toISOString(), items: {} };
  try {
    return JSON.parse(localStorage.getItem(place(rater, round))) ?? fresh;
  } catch {
    return fresh;
  }
}

function keep() {
  try {
    localStorage.setItem(place(answers.rater, answers.round), JSON.stringify(answers));
  } catch {
    at("status").textContent = "This browser keeps nothing: do not close the page before you have saved a copy.";
  }
}

const keyOf = (text) => `${text.item}/${text.part}`;
const mine = () => (answers.items[keyOf(order[current])] ??= { seen: false, seconds: 0 });
const isRated = (text) => PARTS[text.part].every((name) => answers.items[keyOf(text)]?.[name]);
const isSkipped = (text) => !isRated(text);

function show(id) {
  for (const part of ["start", "rate", "end"]) at(part).hidden = part !== id;
  window.scrollTo(0, 0);
}

function showText(index) {
  stopClock();
  current = index;
  const text = order[current];
  at("place").textContent = `Text ${current + 1} of ${order.length}`;
  at("text").textContent = text.text || "(This text is empty.)";
  at("original").textContent = text.original;
  for (const name of ["original", "original-title"]) at(name).hidden = text.part === 0;
  at("progress").value = order.filter((one) => answers.items[keyOf(one)]?.seen).length;
  at("back").disabled = current === 0;
  at("problem").textContent = "";
  for (const set of document.querySelectorAll("fieldset")) set.hidden = !asked().includes(set.dataset.question);
  for (const name of asked()) {
    for (const radio of radios(name)) radio.checked = Number(radio.value) === mine()[name];
  }
  show("rate");
  at("place").focus();
  startClock();
}

function showEnd() {
  stopClock();
  const skipped = order.filter(isSkipped).length;
  at("summary").textContent = `${order.length - skipped} rated, ${skipped} skipped.`;
  at("reopen").hidden = skipped === 0;
  show("end");
  at("end-title").focus();
}

// Only the time that a text is in sight counts.
function startClock() {
  since = document.hidden ? null : performance.now();
}

function stopClock() {
  if (since !== null) {
    mine().seconds = Math.round((mine().seconds + (performance.now() - since) / 1000) * 10) / 10;
    keep();
  }
  since = null;
}

function goOn() {
  mine().seen = true;
  stopClock();
  keep();
  const next = current + 1;
  if (next < order.length) showText(next);
  else showEnd();
}

function answer(name, value) {
  mine()[name] = value;
  at("problem").textContent = "";
  keep();
}

// A digit answers the question that has the focus, or else the first one that is open; it never changes another.
function press(digit) {
  const focused = document.activeElement.closest("fieldset")?.dataset.question;
  const name = focused ?? asked().find((one) => !mine()[one]);
  if (!name) return;
  radios(name)[digit - 1].checked = true;
  answer(name, digit);
  const next = asked().find((one) => !mine()[one]);
  if (next) radios(next)[0].focus();
  else at("rate").querySelector("[type=submit]").focus();
}

function save() {
  stopClock();
  const ratings = order.slice(0, TEXTS.length).map(({ item }, index) => {
    const given = PARTS.map((_, part) => answers.items[keyOf({ item, part })] ?? { seen: false, seconds: 0 });
    const seen = given.every((one) => one.seen);
    const seconds = Math.round(10 * given.reduce((sum, one) => sum + one.seconds, 0)) / 10;
    const points = Object.fromEntries(PARTS.flatMap((names, part) => names.map((name) => [name, given[part][name] ?? null])));
    return { item, position: index + 1, seen, seconds, ...points };
  });
  const file = { sheet: SHEET, rater: answers.rater, round: answers.round, started: answers.started, saved: new Date().toISOString(), ratings };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" }));
  link.download = `ratings-${SHEET}-${answers.rater}${answers.round > 1 ? `-${answers.round}` : ""}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  at("status").textContent = `Saved as ${link.download}, in the folder for downloads.`;
  if (!at("rate").hidden) startClock();
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  answers = load(at("rater").value, Number(at("round").value));
  const arranged = arrange(TEXTS, place(answers.rater, answers.round).slice("ratings/".length));
  order = PARTS.flatMap((_, part) => arranged.map((text) => ({ ...text, part })));
  const next = order.findIndex((text) => !answers.items[keyOf(text)]?.seen);
  if (next < 0) showEnd();
  else showText(next);
});
at("rate").addEventListener("change", (event) => {
  if (event.target.type === "radio") answer(event.target.name, Number(event.target.value));
});
at("rate").addEventListener("submit", (event) => {
  event.preventDefault();
  if (isRated(order[current])) return goOn();
  const missing = asked().find((name) => !mine()[name]);
  at("problem").textContent = "Answer both questions, or skip the text.";
  radios(missing)[0].focus();
});
at("rate").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (/^[1-5]$/.test(event.key)) {
    event.preventDefault();
    press(Number(event.key));
  } else if (event.key === "Enter" && !event.target.matches("button, input")) {
    event.preventDefault();
    at("rate").requestSubmit();
  }
});
at("skip").addEventListener("click", () => {
  for (const name of asked()) delete mine()[name];
  goOn();
});
at("back").addEventListener("click", () => showText(current - 1));
at("save").addEventListener("click", save);
at("save-early").addEventListener("click", save);
at("reopen").addEventListener("click", () => showText(order.findIndex(isSkipped)));
at("review").addEventListener("click", () => showText(order.length - 1));
document.addEventListener("visibilitychange", () => {
  if (!answers || at("rate").hidden) return;
  if (document.hidden) stopClock();
  else startClock();
});
