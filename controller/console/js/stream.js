// Follows a stream of the server. The browser opens one again by itself after an interruption; one that it has given up
// (CLOSED) is opened again here, after 1, 2, then every 4 seconds.

const PAUSES = [1, 2, 4];
const DEAF = 10; // s after which a stream is opened again on which nothing comes, not even its end: a tablet slept, or
// a proxy dropped the connection

/**
 * `handlers`: by the name of an event, what is done with it. `onSilence(seconds, was)`: whole seconds since the last of
 * them, when that number changes; `was`: the number before, so that 0 after 14 says "back after 14 s". Returns what
 * ends it.
 */
export function follow(address, handlers, onSilence) {
  let source = null;
  let tries = 0;
  let ended = false;
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
    if (ended) return;
    source = new EventSource(address);
    for (const [name, handle] of Object.entries(handlers)) source.addEventListener(name, hear(handle));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(open, 1000 * PAUSES[Math.min(tries, PAUSES.length - 1)]);
      tries += 1;
    };
  };

  open();
  const looking = setInterval(silence, 250);
  return () => {
    ended = true;
    source.close();
    clearInterval(looking);
  };
}

/** Both clocks: one stands still while some machines sleep, the other may be set. */
function now() {
  return { steady: performance.now(), utc: Date.now() };
}

/** Whole seconds since then, by the clock that says more. */
function since({ steady, utc }) {
  return Math.floor(Math.max(performance.now() - steady, Date.now() - utc) / 1000);
}
