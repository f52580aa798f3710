// Follows /v1/screen: states and beats. The browser opens a stream again by itself after an interruption; one that it
// has given up (CLOSED) is opened again here, after 1, 2, then every 4 seconds.

import { inLanguage } from "./words.js";

const PAUSES = [1, 2, 4];
const DEAF = 10; // s after which a stream is opened again on which nothing comes, not even its end: a tablet slept, or
// a proxy dropped the connection

/**
 * `onState(state)`, `onBeat(beat)`: what came. `onStopped()`: the daemon was ended in order. `onSilence(seconds, was)`: whole seconds since the last of them, when
 * that number changes; `was`: the number before, so that 0 after 14 says "back after 14 s".
 */
export function follow(onState, onBeat, onStopped, onSilence) {
  let source = null;
  let tries = 0;
  let heard = now();
  let shown = 0;

  const silence = () => {
    const seconds = since(heard);
    if (seconds === shown) return;
    const was = shown;
    shown = seconds;
    onSilence(seconds, was);
    if (seconds && Math.floor(seconds / DEAF) > Math.floor(was / DEAF)) reopen();
  };

  const reopen = () => {
    if (source.readyState === EventSource.CLOSED) return; // its own pause runs
    source.close();
    open();
  };

  const hear = (handle) => (message) => {
    heard = now();
    tries = 0;
    handle(JSON.parse(message.data));
    silence();
  };

  const open = () => {
    source = new EventSource(inLanguage("/v1/screen"));
    source.addEventListener("state", hear(onState));
    source.addEventListener("beat", hear(onBeat));
    source.addEventListener("stopped", onStopped);
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(open, 1000 * PAUSES[Math.min(tries, PAUSES.length - 1)]);
      tries += 1;
    };
  };

  open();
  setInterval(silence, 250);
}

/** Both clocks: one stands still while some machines sleep, the other may be set. */
function now() {
  return { steady: performance.now(), utc: Date.now() };
}

/** Whole seconds since then, by the clock that says more. */
function since({ steady, utc }) {
  return Math.floor(Math.max(performance.now() - steady, Date.now() - utc) / 1000);
}
