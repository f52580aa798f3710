// Region D: the acts of the phase, the question of an irregularity, or the open step of an act. Left: Problem and
// Pause, always. Middle: facts, other acts, lists. Right: the next act, answers, and payments.

import { ahead } from "./ahead.js";
import { moves } from "./arrows.js";
import { buttons, lines, rows } from "./buttons.js";
import { edge, el, mark, text } from "./dom.js";
import { moveLines } from "./facts.js";
import { back, cancel, look, start, step } from "./flow.js";
import { grid } from "./grid.js";
import { pad } from "./pad.js";
import { drawDues, paying } from "./payments.js";
import { answered, movedLabel } from "./labels.js";
import { acts, always, comesFirst, label, primary, standing } from "./actions.js";
import { askAbout, matterOf } from "./question.js";
import { askedElsewhere, isEnding, lapsed, second } from "./second.js";
import { dealNotes, isPlainDeal } from "./sentence.js";
import { sheet } from "./sheets.js";
import { isUnread } from "./stage.js";
import { corrected } from "./signing.js";
import { ask } from "./steps.js";
import { inContact, isAsking, store } from "./store.js";
import { say } from "./words.js";

const UNSIGNED = { text: "…", authority: "…" }; // of a ruling, whose effect does not depend on them
const WITHOUT_CONTACT = ["contact.looks", "contact.call"];
const STOPPED = ["contact.goes_on"];
const SENTENCE = /[.!?。！？]$/u;
const parts = {};
const seen = {}; // what was drawn last: its entry, and its question

function build(panel) {
  parts.panel = panel;
  for (const name of ["left", "middle", "right"]) parts[name] = panel.querySelector(`.${name}`);
  for (const name of ["own", "always"]) parts[name] = parts.left.appendChild(el("div", { class: name }));
  for (const name of ["facts", "tabs", "rows", "list", "cards"])
    parts[name] = parts.middle.appendChild(el("div", { class: name }));
  for (const name of ["dues", "answers", "pad"]) parts[name] = parts.right.appendChild(el("div", { class: name }));
  parts.dues.tabIndex = 0; // it may overflow
  parts.input = parts.right.appendChild(el("form", { class: "input" }));
  parts.field = el("input", { autocomplete: "off", maxlength: 200 });
  parts.typed = el("button", { type: "submit" });
  parts.label = el("span");
  parts.input.append(el("label", {}, parts.label, parts.field), parts.typed);
  for (const name of ["cards", "pad", "input"]) parts[name].hidden = true; // until something asks for one of them
  parts.field.oninput = () => parts.writing?.type(parts.field.value);
  parts.input.onsubmit = (event) => {
    event.preventDefault();
    parts.writing?.done();
  };
}

/** Draw region D and the sheet for `screen`, the newest state, or null before the first. */
export function render(screen) {
  if (!parts.panel) build(document.getElementById("panel"));
  if (!screen) return;
  look(screen);
  const without = (store.stopped ? STOPPED : WITHOUT_CONTACT).map((key) => say(key));
  const shown = inContact() ? whatToShow(screen) : { ...whatToShow(screen), facts: without };
  watch(screen, shown);
  point(shown);
  mark(parts.panel, "asking", isAsking());
  mark(parts.panel, "wide", Boolean(shown.grid));
  mark(parts.panel, "signing", step() === "sign" || Boolean(shown.isDense));
  mark(parts.panel, "paying", Boolean(shown.dues));
  mark(parts.panel, "choosing", Boolean(shown.rows));
  drawDues(parts.dues, shown.dues ?? [], screen);
  buttons(parts.own, shown.left ?? []);
  buttons(parts.always, always(screen));
  lines(parts.facts, withoutHeadline(shown, screen));
  rows(parts.rows, shown.rows ?? []);
  buttons(parts.tabs, shown.tabs ?? []);
  buttons(parts.list, shown.list ?? []);
  buttons(parts.answers, shown.right ?? []);
  parts.cards.hidden = !shown.grid;
  if (shown.grid) grid(parts.cards, shown.grid);
  parts.pad.hidden = !shown.pad;
  if (shown.pad) pad(parts.pad, shown.pad);
  else parts.pad.replaceChildren(); // no digit of a PIN stays in the page
  writing(shown.input);
  reveal(parts.rows.querySelector(".row.due"));
  for (const node of [parts.middle, parts.answers, parts.dues]) edge(node);
  sheet(screen);
}

/** Scroll to the first unanswered row, which lies below the edge if all above are answered. */
function reveal(row) {
  if (!row) return;
  const { bottom } = parts.middle.getBoundingClientRect();
  if (row.getBoundingClientRect().bottom > bottom) row.scrollIntoView({ block: "nearest" });
}

/** Block taps for a moment when others change the question, because a finger may be on its way. */
function watch({ entry, last }, { asks, right = [] }) {
  const { entry: before = entry, asks: was } = seen;
  seen.entry = entry;
  seen.asks = asks ?? right.filter(Boolean).map((one) => one.key).join(" ");
  const isOwn = isAsking() || (store.answer?.accepted && store.answer.entry > before); // this screen's entry
  if (last.by && last.entry > before && seen.asks !== was && !isOwn) store.overtake();
}

/** Return the first that applies: an open step, a closed act, a second request, a blocking matter, the phase's acts. */
function whatToShow(screen) {
  if (!screen.screen?.enrolled) return notEnrolled();
  const name = step();
  if (name) {
    const flow = store.own.flow;
    const asked = ask(name, screen, flow);
    const left = [{ key: "back", label: say("act.back"), act: flow.at ? back : cancel }];
    // All that is signed, including what the act began with; signing.js shows a corrected entry.
    const said = name === "sign" ? { ...flow.offer.arguments, ...flow.values } : { ...flow.values, ...flow.values.instead };
    const given = answered(screen, said);
    const isReplaced = flow.values.instead !== undefined && !name.startsWith("instead"); // all of it is answered
    const changes = name !== "sign" && isReplaced ? corrected(screen, flow) : [];
    const act = [flow.offer.label ?? label(screen, flow.offer), asked.about, name === "sign" && given].filter(Boolean).join(" · ");
    const isSigned = name === "sign";
    const isSaid = isSigned || name === "entry" || asked.isSaid;
    const title = asked.grid || name === "kind" ? [] : [["title", act], ...(changes.length ? changes : [!isSaid && given])];
    const brings = name === "text" || name === "authority" ? followsFrom(screen, flow) : [];
    const asks = `${flow.offer.operation}/${flow.at}`;
    return { tone: "plain", ...asked, asks, left, facts: [...title, ...brings, ...(asked.facts ?? [])] };
  }
  if (store.own.closed) return closed(store.own.closed);
  const twice = second(screen);
  if (twice) return { ...twice, asks: twice.question };
  const matter = matterOf(screen);
  const asked = askedElsewhere(screen) || lapsed(screen) || (matter ? paused(screen) : unread(screen)); // a matter says itself what is unread
  if (matter) {
    const shown = { ...bets(screen), ...askAbout(screen, matter) };
    return withFact({ ...shown, asks: `${matter.id}/${matter.stage}/${shown.question}` }, asked);
  }
  const right = primary(screen);
  const keys = new Set(right.map((one) => one.key));
  const list = acts(screen).filter((one) => !keys.has(one.key));
  const shown = { question: comesFirst(screen), facts: besides(screen), list, right };
  return withFact({ ...shown, ...bets(screen), ...hands(screen), ...paying(screen) }, asked);
}

/** Return the effect of a ruling once all that it names is answered; its reason is asked last. */
function followsFrom(screen, flow) {
  const lines = ahead(screen, flow.offer, { ...UNSIGNED, ...flow.values });
  const plain = (line) => line.replace(/\s*[:：]\s*…/u, "");
  return lines.map((line) => (typeof line === "string" ? plain(line) : [line[0], plain(line[1])]));
}

/** Return the facts without one that region B says. */
function withoutHeadline({ facts = [], question }, { view }) {
  const words = (one) => (Array.isArray(one) && one.length === 2 ? one[1] : one);
  return facts.filter((one) => words(one) !== (question ?? view.headline));
}

/** Return why the next act is off, and the table's other sentences. */
function besides(screen) {
  const { headline, next_steps: steps } = screen.view;
  if (isEnding(screen)) return [];
  if (marksBoxes(screen)) return [say(screen.layout.every_hand ? "bets.every_hand" : "bets.tap")];
  const [act, ...more] = steps;
  const adds = act !== headline && !standing(screen).length && screen.view.phase !== "maintenance"; // to the headline
  const others = isPlainDeal(screen.view) ? [...dealNotes(screen), ...more.slice(screen.view.face_up.length ? 1 : 0)] : adds ? steps : more;
  const decides = screen.view.phase === "first_card" && !screen.view.burn_due && say("first_card.decides");
  const open = ["exposing", "settling"].includes(screen.view.phase) && screen.view.hands.some((hand) => hand.shown);
  const classes = open && say("fact.classes");
  const all = [...new Set([...standing(screen), ...others, decides, classes])].filter((line) => line !== headline);
  const lines = all.map((line) => (typeof line === "string" && line.endsWith(headline) ? before(line, headline) : line));
  const moved = moveLines(screen, moves(screen.view)); // the act's sentence adds nothing to these
  return moved.length ? [...moved, say("move.then", { act: movedLabel(moves(screen.view)) })] : lines;
}

/** Return whether boxes are marked by taps, and bets may be closed. */
function marksBoxes({ view, layout, offers }) {
  const closes = offers.find((one) => one.operation === "no_more_bets");
  return view.phase === "betting" && closes?.allowed && !layout.wagers_entered;
}

/** Return the sentences of a line before the headline; the whole line if the headline is a part of its last sentence. */
function before(line, headline) {
  const rest = line.slice(0, -headline.length).trim();
  return SENTENCE.test(rest) || !rest ? rest : line;
}

/** Return that play is also paused, which a matter hides. */
function paused({ view }) {
  return view.paused ? say("matter.paused", { reason: view.paused }) : "";
}

/** Return what a card drawn as "?" is, if one lies on the stage. */
function unread({ view }) {
  return view.hands.some(isUnread) ? say("fact.unread") : "";
}

function withFact(shown, fact) {
  return { ...shown, facts: [...(shown.facts ?? []), fact] };
}

/** Show an act that others closed until it is read: a button where neither digits nor answers lay. */
function closed({ act, isPaused, by, sentence }) {
  const what = by && !sentence.includes(by) ? `${say("answer.by", { name: by })}${sentence}` : sentence;
  const read = { key: "read", label: say("closed.read"), tone: "second", act: () => store.set({ closed: undefined }) };
  const lost = isPaused ? say("closed.paused") : say("closed.act", { act: say(`op.${act}`) });
  return { facts: [["then", lost], what], list: [read] };
}

function notEnrolled() {
  return {
    question: say("enrol.first"),
    facts: [say("enrol.not")],
    right: [{ key: "enrol", label: say("sheet.enrol"), tone: "primary", act: () => store.set({ sheet: "enrol" }) }],
  };
}

/** Set what B says and what the stage asks for, without another frame, because this one draws it. */
function point(shown) {
  const { own } = store;
  const tone = shown.tone ? { tone: shown.tone } : {};
  const { question, count = "", asks } = shown;
  own.headline = question ? { text: question, count, asks, ...tone } : undefined;
  own.picking = shown.picking;
  own.pick = shown.pick;
  own.picks = shown.question ?? store.screen.view.phase;
  own.filled = shown.filled;
  own.selection = shown.selection;
  own.numbered = shown.numbered;
  own.pickCard = shown.pickCard;
  own.arrows = shown.arrows;
  own.still = shown.still;
}

/** Let a tapped box take a bet or give it up, while bets are open. */
function bets(screen) {
  const offer = screen.offers.find((one) => one.operation === "occupy_boxes" && one.allowed);
  if (!offer || screen.layout.wagers_entered) return {};
  const pick = (place) => {
    const number = Number(place.slice(1));
    const { boxes: marked } = store.screen.view;
    const chosen = marked.includes(number) ? marked.filter((one) => one !== number) : [...marked, number];
    start(offer, { values: { boxes: chosen.sort((one, other) => one - other) } });
  };
  return { picking: new Set(Object.keys(screen.layout.labels).filter((place) => place !== "D")), pick };
}

/** Let a tapped hand be turned over, in that phase. */
function hands(screen) {
  const found = screen.offers.filter((one) => one.operation === "expose_hand" && one.allowed);
  const pick = (place) => start(found.find((one) => one.arguments.place === place));
  return found.length ? { picking: new Set(found.map((one) => one.arguments.place)), pick } : {};
}

/** Show a text field. */
function writing(input) {
  parts.writing = input;
  parts.input.hidden = !input;
  if (!input) return;
  if (parts.field.value !== input.typed) parts.field.value = input.typed;
  parts.typed.textContent = say("act.enter");
  parts.typed.disabled = !inContact() || !input.typed.trim();
  text(parts.label, say("act.write"));
}
