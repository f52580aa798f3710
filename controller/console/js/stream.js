// Follows /v1/screen: states and beats. The browser opens a stream again by itself after an interruption; one that it
// has given up (CLOSED) is opened again here, after 1, 2, then every 4 seconds.

const PAUSES = [1, 2, 4];

/**
 * `onState(state)`, `onBeat(beat)`: what came. `onSilence(seconds, was)`: whole seconds since the last of them, when
 * that number changes; `was`: the number before, so that 0 after 14 says "back after 14 s".
 */
export function follow(language, onState, onBeat, onSilence) {
  let source = null;
  let tries = 0;
  let heard = performance.now();
  let shown = 0;

  const silence = () => {
    const seconds = Math.floor((performance.now() - heard) / 1000);
    if (seconds === shown) return;
    const was = shown;
    shown = seconds;
    onSilence(seconds, was);
  };

  const hear = (handle) => (message) => {
    heard = performance.now();
    tries = 0;
    handle(JSON.parse(message.data));
    silence();
  };

  const open = () => {
    source = new EventSource(`/v1/screen?language=${encodeURIComponent(language)}`);
    source.addEventListener("state", hear(onState));
    source.addEventListener("beat", hear(onBeat));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(open, 1000 * PAUSES[Math.min(tries, PAUSES.length - 1)]);
      tries += 1;
    };
  };

  open();
  setInterval(silence, 250);
}
