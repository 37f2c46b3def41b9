"use strict";
const search = document.getElementById("search");
const filters = [...document.querySelectorAll("select")];
const output = document.querySelector("output");
const body = document.querySelector("tbody");
const rows = [...body.rows];
const texts = rows.map((row) => row.textContent.toLowerCase());
// The form of the words is described in `word_index.rs`.
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
const UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}";
const WORD = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{Alphabetic}\\p{N}_])+`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const found = new Map();
let words;
function readWords() {
  words = [];
  let last = "";
  for (const line of document.getElementById("words").textContent.split("\n")) {
    const space = line.indexOf(" ");
    if (space < 1) continue;
    const shared = DIGITS.indexOf(line[0]);
    let start = 0;
    for (let count = 0; count < shared; count++) start += last.codePointAt(start) > 0xffff ? 2 : 1;
    last = last.slice(0, start) + line.slice(1, space);
    words.push([last, line.slice(space + 1)]);
  }
}
function sessions(postings) {
  const numbers = [];
  let [next, value, scale] = [0, 0, 1];
  for (const letter of postings) {
    const digit = DIGITS.indexOf(letter);
    value += (digit % 32) * scale;
    scale *= 32;
    if (digit < 32) {
      numbers.push(next + value);
      next += value + 1;
      [value, scale] = [0, 1];
    }
  }
  return numbers;
}
// The numbers of the rows whose pages have a word that contains this part.
function rowsWith(part) {
  if (!found.has(part)) {
    if (!words) readWords();
    const numbers = new Set();
    for (const [word, postings] of words)
      if (word.includes(part)) for (const number of sessions(postings)) numbers.add(number);
    found.set(part, numbers);
  }
  return found.get(part);
}
function parts(term) {
  return (term.match(WORD) ?? []).flatMap((word) => {
    const letters = [...word];
    if (!IS_UNSPACED.test(word) || letters.length === 1) return [word];
    return letters.slice(1).map((letter, place) => letters[place] + letter);
  });
}
function fits(place, terms) {
  return terms.every(([term, parts]) =>
    texts[place].includes(term) ||
    (parts.length > 0 && parts.every((part) => rowsWith(part).has(place))));
}
function dollars(micros) {
  return "$" + (micros / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
function show() {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean).map((term) => [term, parts(term)]);
  let [shown, replies, micros] = [0, 0, 0];
  rows.forEach((row, place) => {
    row.hidden = !(
      filters.every((filter) => ["", row.dataset[filter.id]].includes(filter.value)) && fits(place, terms)
    );
    if (row.hidden) return;
    shown += 1;
    replies += Number(row.cells[5].dataset.value);
    micros += Number(row.cells[6].dataset.value);
  });
  const counted = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  const partial = rows.some((row) => !row.hidden && /[+?]$/.test(row.cells[6].textContent)) ? "+" : "";
  const cost = partial && !micros ? "?" : dollars(micros) + partial;
  output.textContent =
    `${shown} of ${counted(rows.length, "session", "sessions")}, ${counted(replies, "reply", "replies")}, ${cost}`;
}
function sort(head, place) {
  const isDown = head.ariaSort === "descending";
  for (const other of document.querySelectorAll("th")) other.ariaSort = null;
  head.ariaSort = isDown ? "ascending" : "descending";
  const value = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent;
  const order = new Intl.Collator(undefined, { numeric: true }).compare;
  const sorted = [...rows].sort((one, other) => order(value(one), value(other)));
  body.append(...(isDown ? sorted : sorted.reverse()));
}
document.querySelectorAll("th").forEach((head, place) =>
  head.firstChild.addEventListener("click", () => sort(head, place)));
const two = (number) => String(number).padStart(2, "0");
const dayOf = (date) => [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
for (const time of body.querySelectorAll("time")) {
  const date = new Date(time.dateTime);
  if (isNaN(date)) continue;
  time.textContent = `${dayOf(date)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
document.querySelector("th.time button").textContent += ` (${zone})`;
// Draws the cost of each day, as the times in the list count days. A long time is drawn by months.
const [WIDTH, HEIGHT, MAX_DAYS, MAX_BAR] = [900, 120, 90, 40];
function draw(figure) {
  const { models, costs } = JSON.parse(figure.dataset.costs);
  const sums = new Map();
  const time = (quarter) => new Date(quarter * 900000);
  const [start, end] = [time(costs[0][0]), time(costs.at(-1)[0])];
  const isLong = end - start > MAX_DAYS * 86400000;
  const name = (date) => dayOf(date).slice(0, isLong ? 7 : 10);
  for (const [quarter, model, micros] of costs) {
    const day = name(time(quarter));
    if (!sums.has(day)) sums.set(day, models.map(() => 0));
    sums.get(day)[model] += micros;
  }
  const days = [name(start)];
  const date = new Date(`${dayOf(start)}T12:00`);
  while (days.at(-1) < name(end)) {
    date.setDate(date.getDate() + 1);
    if (days.at(-1) !== name(date)) days.push(name(date));
  }
  const total = (day) => (sums.get(day) ?? []).reduce((sum, micros) => sum + micros, 0);
  const highest = Math.max(...days.map(total), 1);
  const add = (parent, name, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return parent.appendChild(node);
  };
  const svg = add(figure, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 20}`, preserveAspectRatio: "xMinYMin", role: "img", "aria-label": "Costs" });
  const width = Math.min(WIDTH / days.length, MAX_BAR);
  days.forEach((day, column) => {
    if (!sums.has(day)) return;
    const parts = sums.get(day).map((micros, model) => [models[model], micros, model]).filter(([, micros]) => micros);
    const group = add(svg, "g", {});
    add(group, "title", {}, [`${day}: ${dollars(total(day))}`, ...parts.map(([name, micros]) => `${name} ${dollars(micros)}`)].join("\n"));
    let y = HEIGHT;
    for (const [, micros, model] of parts) {
      const height = (HEIGHT * micros) / highest;
      y -= height;
      add(group, "rect", { class: `m${model}`, x: column * width, y, width: Math.max(width - 2, 1), height });
    }
  });
  add(svg, "text", { x: 0, y: HEIGHT + 15 }, days[0]);
  if (days.length > 1) add(svg, "text", { x: days.length * width, y: HEIGHT + 15, "text-anchor": "end" }, days.at(-1));
  const caption = figure.appendChild(document.createElement("figcaption"));
  caption.textContent = `Cost per ${isLong ? "month" : "day"} (${zone}), up to ${dollars(highest)}`;
  models.forEach((name, model) => {
    const label = caption.appendChild(document.createElement("span"));
    label.className = `m${model}`;
    label.textContent = name;
  });
}
for (const figure of document.querySelectorAll("figure")) draw(figure);
for (const control of [search, ...filters]) control.addEventListener("input", show);
show();
