// The page's own words, in the language that the daemon chose for this screen and uses for its own texts.

const AGAIN = 2000; // ms
const asked = new URLSearchParams(location.search);

/** Return a setting of this screen: from the address (which is then kept), else the kept one, else `otherwise`. */
export function setting(name, allowed, otherwise) {
  const wanted = asked.get(name) ?? localStorage.getItem(name);
  if (!allowed.includes(wanted)) return otherwise;
  localStorage.setItem(name, wanted);
  return wanted;
}

export const theme = setting("theme", ["dark", "light"], "dark");
export const hand = setting("hand", ["right", "left"], "right");
export const letters = setting("letters", ["on", "off"], "on"); // keys Y and N (WCAG 2.1.4)

/** The language of this screen, and all that the daemon has: their own names by code. */
export let language = navigator.language;
export let languages = {};

let words = {};
let rules, clock, seconds;

/** Return an address of the daemon with the language of its answer. */
export function inLanguage(path) {
  return `${path}?language=${encodeURIComponent(language)}`;
}

/** Read the words, and set up the document's language, theme and hand. */
export async function load() {
  language = asked.get("language") ?? localStorage.getItem("language") ?? navigator.language;
  ({ language, languages, words } = await fetched(inLanguage("/console/words")));
  if (asked.has("language")) localStorage.setItem("language", language);
  rules = new Intl.PluralRules(language);
  clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  seconds = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" });
  const root = document.documentElement;
  root.lang = language;
  root.dataset.theme = theme;
  root.dataset.hand = hand;
  for (const region of document.querySelectorAll("section")) region.ariaLabel = say(`region.${region.id}`);
}

/** Fetch a file, retrying until it comes, because the daemon may go away between the page and its words. */
async function fetched(path) {
  for (;;) {
    const answer = await fetch(path).catch(() => null);
    if (answer?.ok) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** Change a setting of this screen, and restart the page. */
export function choose(name, value) {
  localStorage.setItem(name, value);
  const address = new URL(location.href);
  address.searchParams.delete(name);
  location.replace(address);
}

/**
 * Return the words of `key` with its `{arguments}`. With a number `n`, the key with its plural form in this language
 * (`key.one`, `key.few`) is used if it exists, else `key.other`. A missing key is shown itself.
 */
export function say(key, args = {}) {
  const counted = args.n === undefined ? undefined : (words[`${key}.${rules.select(args.n)}`] ?? words[`${key}.other`]);
  const pattern = counted ?? words[key] ?? key;
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => args[name] ?? whole);
}

/** Return words with a capital letter, for use outside a sentence. */
export function capital(words_) {
  const [first = "", ...rest] = words_;
  return first.toLocaleUpperCase(language) + rest.join("");
}

/** Return whether `key` has words. */
export function knows(key) {
  return key in words;
}

/** Return nanoseconds of UTC as the local time of day, with or without seconds. */
export function time(utcNs, withSeconds = false) {
  return (withSeconds ? seconds : clock).format(new Date(utcNs / 1e6));
}

/** Return a place's label on this layout. */
export function placeName(screen, place) {
  return screen.layout.labels[place] ?? place;
}
