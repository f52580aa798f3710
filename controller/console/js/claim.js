// The questions about a matter: the claims, each about one thing that people see, then the facts, then the consequence,
// which one button confirms. Nothing is entered before everything is answered; the entry is complete and signed once.

import { preview } from "./ahead.js";
import { needsSign, start } from "./flow.js";
import { read, shown, whileAsking } from "./operate.js";
import { inShort, matterFacts } from "./facts.js";
import { whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { capital, knows, placeName, say } from "./words.js";

const FEW = 2; // lines of the preview beside several answers; the person who signs sees all
const BECOMES = ["stands", "next_card"]; // the next step does not say these
const COUNTED = "wrong_number"; // answered by a count of the hand, not by a question
const UNANSWERED = { claim: undefined, denied: 0, facts: {} };

/**
 * Return the answers given here. `claim`: true: confirmed; false: asked again; undefined: not answered. `denied`: the
 * number of claims that were answered with no.
 */
function answersOf({ id, revision }) {
  const { stated } = store.own;
  return stated?.id === id && stated.revision === revision ? stated : UNANSWERED;
}

function state({ id, revision }, claim, facts, denied = 0) {
  store.set({ stated: { id, revision, claim, denied, facts } });
}

/** Return a question with two answers: what each does, or `{act, why}` if it is off. */
function yesOrNo(matter, name, question, yes, no) {
  const said = (word) => (knows(`fact.${name}.${word}`) ? say(`fact.${name}.${word}`) : say(`act.${word}`));
  const one = (word, { act, why }) => ({
    key: word,
    label: said(word),
    tone: "answer",
    meaning: `${matter.id}/${name}`,
    why,
    act,
  });
  return { question, right: [one("yes", yes), one("no", no)] };
}

/** Return `{question, facts, left, right}` of a matter that was noticed and is not decided yet. */
export function claimed(screen, matter, of, counts) {
  const isAsked = matter.claims.length && !answersOf(matter).claim; // entered faces are checked before a count
  if (counts && !isAsked)
    return {
      right: [
        { key: "count", label: say("op.count_cards"), tone: "primary", why: off(counts), act: () => start(counts) },
      ],
    };
  const [offer] = of("confirm_irregularity");
  const [deny] = of("deny_irregularity");
  if (!offer || !deny) return {};
  if (counts) return asked(screen, matter, { ...offer, allowed: true }, deny);
  const { claim, facts } = answersOf(matter);
  const entered = deny.code === "misplaced"; // the entries show it, so it is neither asked nor denied
  if (!entered && !claim && (claim === false || !offer.allowed || !isKnown(screen, matter)))
    return asked(screen, matter, offer, deny);
  const at = matter.asks.findIndex((name) => !(name in facts));
  const last = matter.asks[(at < 0 ? matter.asks.length : at) - 1];
  const before = () =>
    last ? state(matter, claim, without(facts, last)) : state(matter, false, {}); // the claim, if nothing was answered
  const back = { key: "back", label: say("act.back"), act: before };
  if (at < 0) return followed(screen, matter, offer, deny, facts);
  const name = matter.asks[at];
  const answer = (value) => ({ act: () => answered(matter, offer, claim, name, { ...facts, [name]: value }) });
  const left = entered && !last ? [] : [back];
  const denial = { key: "deny", label: say("op.deny_irregularity"), why: off(deny), act: () => start(deny) };
  return { ...yesOrNo(matter, name, matter.questions[at], answer(true), answer(false)), left, list: entered ? [] : [denial] };
}

/**
 * Keep the answer. One about counting a hand, and the last one if it only brings further questions, is entered
 * immediately: there is no consequence to confirm.
 */
async function answered(matter, offer, claim, name, facts) {
  if (name === COUNTED) {
    start({ ...stating(offer, facts), role: "dealer" });
    return;
  }
  state(matter, claim, facts);
  const said = stating(offer, facts);
  if (needsSign(store.screen, { ...said, role: "dealer" }) || matter.asks.some((one) => !(one in facts))) return;
  const told = await whileAsking(() => read("/v1/preview", { operation: { operation: said.operation, ...said.arguments } }));
  if (told?.asks && told.role === "dealer") start({ ...said, role: told.role });
}

/** Take the entry of faces back, and let them be entered again at once. */
function enterAgain(deny, { place }) {
  const again = async ({ entry }) => {
    await shown(entry);
    const offer = store.screen.offers.find((one) => one.operation === "expose_hand" && one.allowed && one.arguments.place === place);
    if (offer) start(offer);
  };
  start(deny, { values: { reason: say("phrase.mistake") }, then: again });
}

/**
 * Return whether the claim needs no question: this dealer made it here, or an answer was entered. A count that shows
 * that cards are missing is asked about, and may be repeated, before the page proposes anything.
 */
function isKnown(screen, { id, revision, noticed_by: by, facts }) {
  if (facts.counted_wrong) return false;
  return "counted_wrong" in facts || (COUNTED in facts && revision !== id) || (by !== "" && by === screen.screen.dealer);
}

/** Return the first claim that was not answered with no. The last no denies the irregularity. */
function asked(screen, matter, offer, deny) {
  const { denied = 0 } = answersOf(matter);
  const claim = matter.claims[denied] ?? { question: matter.question, facts: {} };
  const yes = () => {
    if (matter.asks.length) state(matter, true, only(claim.facts, matter.asks));
    else if (needsSign(screen, offer) || matter.proposes === "continue")
      start(offer); // the consequence is beside the PIN; there is none if play goes on
    else state(matter, true, {});
  };
  const others = denied + 1 < matter.claims.length;
  const corrects = deny.code === "entry" && screen.offers.find((one) => one.operation === "correct_entry" && one.allowed);
  const again = matter.facts.counted_wrong && screen.offers.find((one) => one.operation === "count_again" && one.allowed);
  const instead = again || corrects;
  const denies = () => (matter.entered ? enterAgain(deny, matter) : start(deny));
  const last = instead ? { act: () => start(instead) } : { act: denies, why: off(deny) };
  const no = others ? { act: () => state(matter, false, {}, denied + 1) } : last;
  const back = { key: "back", label: say("act.back"), act: () => state(matter, false, {}, denied - 1) };
  const name = denied ? `claim.${denied}` : "claim";
  const shown = yesOrNo(matter, name, claim.question, { act: yes, why: off(offer) }, no);
  if (again && !others) Object.assign(shown.right[1], { label: say("op.count_again"), isRecount: true });
  return { ...shown, ...(denied && { left: [back] }) };
}

/** Return the operation with the answers. */
function stating(offer, facts) {
  return { ...offer, arguments: { ...offer.arguments, facts } };
}

/** Show the consequence of all answers, to be confirmed. */
function followed(screen, matter, offer, deny, facts) {
  const hasAnswers = matter.asks.length > 0;
  const said = hasAnswers ? stating(offer, facts) : offer;
  const told = preview(screen, said);
  const brings = [...told.lines, ...told.steps];
  const applies = hasAnswers && told.accepted ? told : undefined;
  const whole = applies ? { ...said, role: applies.role } : said; // the answers decide who signs
  const counted = "counted_wrong" in matter.facts; // unknown facts are left out
  const goesOn = counted && isWhole(matter);
  const again = { key: "again", label: say("matter.again"), act: () => state(matter, false, {}) };
  const denial = { key: "deny", label: say("op.deny_irregularity"), why: off(deny), act: () => start(deny) };
  const isDenied = hasAnswers && !goesOn && deny.code !== "misplaced";
  return {
    isDense: hasAnswers,
    arrows: told.arrows,
    question: matter.void_asked ? matter.headline : asksFor(whole),
    facts: [
      ...(counted || matter.void_asked ? [matter.question] : [["name", whatAndWhere(screen, matter)]]),
      ...(hasAnswers ? inShort(screen, matter, applies) : matterFacts(screen, matter).slice(1)),
      ...chips(screen, matter, facts),
      ...becomes(matter, told.lines),
      // Before the answers, because three long ones fill the column.
      ...(matter.asks.length > 1 ? brings.slice(0, FEW) : brings),
      ...matter.asks.map((name, index) => `${matter.questions[index]} ${say(facts[name] ? "act.yes" : "act.no")}`),
    ],
    right: [
      {
        key: "confirm",
        label: goesOn ? say("ruling.continue") : confirms(screen, whole),
        tone: whole.role === "dealer" ? "primary" : "", // calling that person comes first
        why: off(offer),
        slow: hasAnswers, // the answers lay at the same place
        act: () => start(goesOn ? { ...whole, label: say("ruling.continue") } : whole),
      },
      !goesOn && (hasAnswers ? again : denial),
      isDenied && { ...denial, slow: true },
    ],
  };
}

/** Return what happens to a result that stands, and to a face-up card. */
function becomes({ proposes, asks, becomes: line }, told) {
  const isSaid = told.some((one) => String(one).includes(line));
  return BECOMES.includes(proposes) && !asks.length && line && !isSaid ? [["then", say("then.first", { line })]] : [];
}

/** Return what is done with the chips after an answer. */
function chips(screen, { kind, place }, facts) {
  const at = place ? placeName(screen, place) : "";
  return Object.entries(facts)
    .map(([name, is]) => [`${kind}.${name}`, is ? "yes" : "no"])
    .filter(([fact, word]) => knows(`chips.${fact}.${word}`))
    .map(([fact, word]) => ["then", say(`chips.${fact}.${word}`, { place: at })]);
}

/** Return the next act: the dealer confirms, or calls the person who does. */
function asksFor({ role }) {
  return role === "dealer" ? say("matter.confirm") : say("matter.call", { who: say(`role.${role}`) });
}

/** Return the label for confirming, with the rank if the dealer may not. */
function confirms(screen, offer) {
  return offer.role === "dealer" ? say("op.confirm_irregularity") : say("act.confirm_by", { who: capital(say(`role.${offer.role}`)) });
}

/** Return whether a count showed that nothing is missing, so that there is nothing to confirm. */
function isWhole({ facts, proposes }) {
  return facts.counted_wrong === false && proposes === "continue";
}

function only(facts, names) {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.includes(name)));
}

function without(facts, name) {
  return Object.fromEntries(Object.entries(facts).filter(([one]) => one !== name));
}

function off(offer) {
  return offer.allowed ? "" : offer.sentence;
}
