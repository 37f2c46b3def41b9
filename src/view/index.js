"use strict";
const search = document.getElementById("search");
const filters = [...document.querySelectorAll("select")];
const count = document.querySelector("output");
const rows = [...document.querySelectorAll("main li")];
const texts = rows.map((row) => row.textContent.toLowerCase());
function show() {
  const words = search.value.toLowerCase().split(/\s+/);
  let shown = 0;
  rows.forEach((row, place) => {
    const fits =
      words.every((word) => texts[place].includes(word)) &&
      filters.every((filter) => ["", row.dataset[filter.id]].includes(filter.value));
    row.hidden = !fits;
    shown += fits;
  });
  const noun = rows.length === 1 ? "session" : "sessions";
  count.textContent = `${shown} of ${rows.length} ${noun}`;
}
for (const control of [search, ...filters]) control.addEventListener("input", show);
show();
