"use strict";

/* An element of a kind and class with children; texts are only ever set as text. */
function make(kind, name, ...children) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

/* Lineage: a policy that is chosen is shown under the tree. */
(function lineage() {
  const chosen = document.getElementById("chosen"); // there is none without candidates
  const nodes = [...document.querySelectorAll(".node")];
  const curves = [...document.querySelectorAll(".tree [data-child]")];

  /* The curves by which a policy goes back to a version. */
  function trail(name, found = new Set()) {
    for (const curve of curves) {
      if (curve.dataset.child === name && !found.has(curve)) {
        found.add(curve);
        trail(curve.dataset.parent, found);
      }
    }
    return found;
  }

  function show(node) {
    const name = node.getAttribute("href").slice(1);
    const source = document.getElementById(name);
    for (const other of nodes) other.classList.toggle("current", other === node);
    const on = trail(name);
    for (const curve of curves) curve.classList.toggle("on", on.has(curve));
    const body = source.querySelector(".body").cloneNode(true);
    const head = [...source.querySelectorAll("summary > *")].map((part) => part.cloneNode(true));
    chosen.replaceChildren(make("div", "head", ...head), body);
    chosen.hidden = false;
  }

  for (const node of nodes) {
    node.addEventListener("click", (event) => {
      event.preventDefault();
      show(node);
    });
  }
})();

/* Failures: filtered, and shown some at a time. */
(function failures() {
  const source = document.getElementById("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const AT_ONCE = 20;
  const filters = document.getElementById("filters");
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const rows = data.lives.flatMap((life) => life.wrong.map((wrong) => ({ life, wrong })));
  let found = rows;
  let shown = 0;

  const user = (row) => data.users[row.life.user];
  const facets = {
    policy: (row) => [data.policies[row.life.policy]],
    stage: (row) => [row.wrong.stage],
    step: (row) => (row.wrong.step ? [row.wrong.step] : []),
    state: (row) => row.wrong.states.map((state) => state.name),
    user: (row) => [user(row).id],
    period: (row) => [String(row.wrong.period)],
  };

  function choices(row) {
    return user(row).choices[row.wrong.question];
  }

  function held(row) {
    const period = row.wrong.period;
    return row.life.memory
      .map((entry, place) => ({ place, entry }))
      .filter(({ entry }) => entry[2] <= period && (entry[3] === null || entry[3] > period));
  }

  function words(row) {
    row.words ??= [
      user(row).questions[row.wrong.question],
      choices(row)[row.wrong.chosen] ?? row.wrong.reply,
      choices(row)[row.wrong.right],
      ...row.wrong.states.flatMap((state) => [
        state.name, state.true, state.probe ?? "", ...state.said.map((turn) => row.life.turns[turn][2]),
      ]),
      ...held(row).map(({ entry }) => `${entry[0]} ${entry[1]}`),
    ].join("\n").toLowerCase();
    return row.words;
  }

  function option(value, text) {
    const made = make("option", "", text);
    made.value = value;
    return made;
  }

  /* Each choice says how many wrong answers it would leave. */
  function fill() {
    for (const [name, of] of Object.entries(facets)) {
      const select = filters.elements[name];
      const kept = select.value;
      const counts = new Map();
      for (const row of matching(name)) for (const value of of(row)) counts.set(value, (counts.get(value) ?? 0) + 1);
      if (kept && !counts.has(kept)) counts.set(kept, 0);
      const values = [...counts.keys()];
      if (name === "period") values.sort((a, b) => a - b);
      else if (name !== "policy") values.sort((a, b) => counts.get(b) - counts.get(a) || a.localeCompare(b));
      select.replaceChildren(option("", "all"), ...values.map((value) => option(value, `${value} (${counts.get(value)})`)));
      select.value = kept;
    }
  }

  function matching(but) {
    const wanted = Object.keys(facets)
      .filter((name) => name !== but && filters.elements[name].value)
      .map((name) => [facets[name], filters.elements[name].value]);
    const word = filters.elements.words.value.trim().toLowerCase();
    return rows.filter((row) => wanted.every(([of, value]) => of(row).includes(value)) && (!word || words(row).includes(word)));
  }

  function memory(entry) {
    return entry[0] ? `${entry[0]}: ${entry[1]}` : entry[1];
  }

  function items(entries, marked) {
    return make("ul", "long", ...entries.map(({ place, entry }) => {
      const hit = marked.has(place);
      return make("li", hit ? "hit" : "", memory(entry));
    }));
  }

  function said(row, state) {
    const parts = state.said.map((number) => {
      const [place, time, text] = row.life.turns[number];
      return make("p", "", make("q", "", text), ` (${place}${time ? `, ${time}` : ""})`);
    });
    const among = state.competing === null ? "" : `, in a write of ${state.competing} told facts`;
    const head = make("p", "", make("b", "", state.name), ` is ${state.true}${state.step ? `: ${state.step}${among}` : ""}`);
    return [head, ...(parts.length ? parts : [make("p", "quiet", "Which turn told it is not known, or none did.")])];
  }

  function probed(state) {
    if (!state.probed) return [];
    const told = state.unknown ? "that it does not know" : state.probe === null ? "nothing readable" : state.probe;
    return [make("li", "", `asked for ${state.name}, the probe said ${told}; true is ${state.true}`)];
  }

  function steps(row) {
    const { wrong, life } = row;
    const about = new Set(wrong.states.flatMap((state) => life.about[state.name]));
    const live = held(row);
    const shownEntries = wrong.shown.map((place) => ({ place, entry: life.memory[place] }));
    const gone = life.memory
      .map((entry, place) => ({ place, entry }))
      .filter(({ place, entry }) => about.has(place) && entry[3] !== null && entry[3] <= wrong.period);
    const window = wrong.messages
      ? `${wrong.messages} message${wrong.messages === 1 ? "" : "s"} of the conversation` +
        (wrong.states.some((state) => state.in_context) ? ", what was said among them" : "")
      : "";
    const asked = user(row).questions[wrong.question];
    const named = wrong.chosen === null ? "no choice" : `“${choices(row)[wrong.chosen]}”`;
    const chosen = wrong.reply ? `replied “${wrong.reply}”, which names ${named}` : `chose ${named}`;
    return make("div", "steps",
      make("div", "", make("h5", "", "1. What the user said"), ...wrong.states.flatMap((state) => said(row, state))),
      make("div", "", make("h5", "", "2. What memory held"),
        life.history ? make("p", "", "The conversation itself is its memory.")
          : live.length ? items(live, about) : make("p", "", "Nothing."),
        ...gone.map(({ entry }) => make("p", "", `Gone since period ${entry[3]} (${entry[4]}): ${memory(entry)}`))),
      make("div", "", make("h5", "", "3. What was retrieved"),
        shownEntries.length ? items(shownEntries, about) : make("p", "", window ? "No memories." : "Nothing."),
        ...(window ? [make("p", "", window)] : [])),
      make("div", "", make("h5", "", "4. What was answered"),
        make("p", "", `Asked “${asked}”`), make("p", "", chosen),
        make("p", "", make("b", "", "right was "), `“${choices(row)[wrong.right]}”`),
        make("ul", "", ...wrong.states.flatMap(probed))));
  }

  function card(row) {
    const { wrong } = row;
    const head = make("summary", "",
      make("span", `badge ${wrong.stage}`, wrong.stage),
      make("span", "name", wrong.states.map((state) => state.name).join(", ")),
      make("span", "operator", [wrong.step, data.policies[row.life.policy], user(row).id, `period ${wrong.period}`].filter(Boolean).join(" · ")));
    const body = make("div", "body");
    const details = make("details", "", head, body);
    details.addEventListener("toggle", () => {
      if (details.open && !body.hasChildNodes()) body.append(steps(row));
    });
    return make("li", "", details);
  }

  function add() {
    list.append(...found.slice(shown, shown + AT_ONCE).map(card));
    shown = Math.min(found.length, shown + AT_ONCE);
    more.hidden = shown === found.length;
    document.getElementById("count").textContent =
      `${found.length} of ${rows.length} wrong answers${found.length > shown ? `, the first ${shown} shown` : ""}`;
  }

  function filter() {
    found = matching("");
    shown = 0;
    list.replaceChildren();
    fill();
    add();
  }

  filters.addEventListener("input", filter);
  filters.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", add);
  filter();
})();
