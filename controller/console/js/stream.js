// Follows a stream of the server. The browser reopens it after an interruption; a stream that it has given up (CLOSED)
// is reopened by this module, after 1, 2, then every 4 seconds.

const PAUSES = [1, 2, 4];
const DEAF = 10; // s of silence after which a stream is reopened: a tablet slept, or a proxy dropped the connection

/**
 * Follow a stream. `handlers`: functions by event name. `onSilence(seconds, was)`: called when the whole seconds since
 * the last event change; `was` is the number before, so that 0 after 14 says "back after 14 s". Returns a function that
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

/** Return both clocks: one stops while some machines sleep, the other may be set. */
function now() {
  return { steady: performance.now(), utc: Date.now() };
}

/** Return the whole seconds since then, by the clock that shows more. */
function since({ steady, utc }) {
  return Math.floor(Math.max(performance.now() - steady, Date.now() - utc) / 1000);
}
