// Whether it is so, question by question: first the claim, then each fact, then what follows, which one button
// confirms. Nothing is entered before all is answered: it is entered whole, and signed once.

import { preview } from "./ahead.js";
import { needsSign, start } from "./flow.js";
import { inShort, matterFacts } from "./facts.js";
import { whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { capital, knows, placeName, say } from "./words.js";

const FEW = 2; // lines of what would come, beside several answers; who signs is shown all
const BECOMES = { stands: "then.stands", next_card: "then.next_card" };
const UNANSWERED = { claim: undefined, facts: {} };

/** What was answered here: `claim`: true, it is so; false, that is asked again; undefined: not answered. */
function answersOf({ id, revision }) {
  const { stated } = store.own;
  return stated?.id === id && stated.revision === revision ? stated : UNANSWERED;
}

function state({ id, revision }, claim, facts) {
  store.set({ stated: { id, revision, claim, facts } });
}

/** A question with two answers: what each does, or `{act, why}` where it is off. */
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

/** `{question, facts, left, right}` of a matter that was noticed, and is not decided yet. */
export function claimed(screen, matter, of, counts) {
  const isAsked = matter.claim && !answersOf(matter).claim; // faces that were entered are checked before a count
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
  const entered = deny.code === "misplaced"; // the entries say so: it cannot be denied, and is not asked
  if (!entered && !claim && (claim === false || !offer.allowed || !isKnown(screen, matter)))
    return asked(screen, matter, offer, deny);
  const at = matter.asks.findIndex((name) => !(name in facts));
  const last = matter.asks[(at < 0 ? matter.asks.length : at) - 1];
  const before = () =>
    last ? state(matter, claim, without(facts, last)) : state(matter, false, {}); // the claim, if nothing was answered
  const back = { key: "back", label: say("act.back"), act: before };
  if (at < 0) return followed(screen, matter, offer, deny, facts);
  const name = matter.asks[at];
  const answer = (value) => ({ act: () => state(matter, claim, { ...facts, [name]: value }) });
  const left = entered && !last ? [] : [back];
  const denial = { key: "deny", label: say("op.deny_irregularity"), why: off(deny), act: () => start(deny) };
  return { ...yesOrNo(matter, name, matter.questions[at], answer(true), answer(false)), left, list: entered ? [] : [denial] };
}

/** The claim is not asked of who made it here, nor where a count has shown it. */
function isKnown(screen, { noticed_by: by, facts }) {
  return "counted_wrong" in facts || (by !== "" && by === screen.screen.dealer);
}

function asked(screen, matter, offer, deny) {
  const yes = () => {
    if (matter.asks.length) state(matter, true, {});
    else if (needsSign(screen, offer) || matter.proposes === "continue")
      start(offer); // what follows is read beside the PIN; where play goes on, nothing is to be read
    else state(matter, true, {});
  };
  const no = { act: () => start(deny), why: off(deny) };
  return yesOrNo(matter, "claim", matter.claim || matter.question, { act: yes, why: off(offer) }, no);
}

/** All is answered: what follows is read, then confirmed. */
function followed(screen, matter, offer, deny, facts) {
  const answered = matter.asks.length > 0;
  const stating = answered ? { ...offer, arguments: { ...offer.arguments, facts } } : offer;
  const told = preview(screen, stating);
  const applies = answered && told.accepted ? told : undefined;
  const whole = applies ? { ...stating, role: applies.role } : stating; // who signs depends on the answers
  const counted = "counted_wrong" in matter.facts; // what is not known is left out
  const goesOn = counted && isWhole(matter);
  const again = { key: "again", label: say("matter.again"), act: () => state(matter, false, {}) };
  const denial = { key: "deny", label: say("op.deny_irregularity"), why: off(deny), act: () => start(deny) };
  return {
    arrows: told.arrows,
    question: counted || matter.void_asked ? matter.question : asksFor(screen, matter, whole),
    facts: [
      ...(answered ? inShort(screen, matter, applies) : matterFacts(screen, matter)),
      ...chips(screen, matter, facts),
      ...becomes(matter),
      // Before the answers: three long ones fill the column.
      ...(matter.asks.length > 1 ? told.lines.slice(0, FEW) : told.lines),
      ...matter.asks.map((name, index) => `${matter.questions[index]} ${say(facts[name] ? "act.yes" : "act.no")}`),
    ],
    right: [
      {
        key: "confirm",
        label: goesOn ? say("act.goes_on") : confirms(screen, whole),
        tone: "primary",
        why: off(offer),
        act: () => start(goesOn ? { ...whole, label: say("act.goes_on") } : whole),
      },
      !goesOn && (answered ? again : denial),
    ],
  };
}

/** What becomes of a result that stands, and of a card that lies face up. */
function becomes({ proposes, asks, round, clause }) {
  const key = BECOMES[proposes];
  return key && !asks.length ? [["then", say(key, { round, clause })]] : [];
}

/** What is done with the chips after an answer. */
function chips(screen, { kind, place }, facts) {
  const at = place ? placeName(screen, place) : "";
  return Object.entries(facts)
    .map(([name, is]) => [`${kind}.${name}`, is ? "yes" : "no"])
    .filter(([fact, word]) => knows(`chips.${fact}.${word}`))
    .map(([fact, word]) => ["then", say(`chips.${fact}.${word}`, { place: at })]);
}

/** The act that comes next: the dealer confirms, or calls who does. */
function asksFor(screen, matter, { role }) {
  const what = whatAndWhere(screen, matter);
  return role === "dealer" ? say("matter.confirm", { what }) : say("matter.call", { what, who: say(`role.${role}`) });
}

/** Who confirms it, where the dealer may not. */
function confirms(screen, offer) {
  return offer.role === "dealer" ? say("act.confirm") : say("act.confirm_by", { who: capital(say(`role.${offer.role}`)) });
}

/** A count showed that nothing is missing: there is nothing to be "so". */
function isWhole({ facts, proposes }) {
  return facts.counted_wrong === false && proposes === "continue";
}

function without(facts, name) {
  return Object.fromEntries(Object.entries(facts).filter(([one]) => one !== name));
}

function off(offer) {
  return offer.allowed ? "" : offer.sentence;
}
