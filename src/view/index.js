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
  const noun = rows.length === 1 ? "session" : "sessions";
  const partial = rows.some((row) => !row.hidden && row.cells[6].textContent.endsWith("+")) ? "+" : "";
  const cost = (micros / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  output.textContent =
    `${shown} of ${rows.length} ${noun}, ${replies.toLocaleString("en")} replies, $${cost}${partial}`;
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
for (const time of body.querySelectorAll("time")) {
  const date = new Date(time.dateTime);
  if (isNaN(date)) continue;
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  time.textContent = `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
document.querySelector("th.time button").textContent += ` (${zone})`;
for (const control of [search, ...filters]) control.addEventListener("input", show);
show();
