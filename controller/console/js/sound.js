// Two soft tones, once for a matter that holds the table. Off by default. Browsers allow sound only after a first tap.

import { setting } from "./words.js";

const TONES = [660, 520]; // Hz
const LASTS = 0.18; // s each
const LOUD = 0.15; // of 1

export const sound = setting("sound", ["off", "on"], "off");

let context;

/** Sound both tones. */
export function ring() {
  if (sound !== "on") return;
  context ??= new AudioContext();
  TONES.forEach((hertz, at) => {
    const begins = context.currentTime + at * LASTS;
    const tone = new OscillatorNode(context, { frequency: hertz });
    const level = new GainNode(context, { gain: 0 });
    level.gain.setValueAtTime(LOUD, begins);
    level.gain.exponentialRampToValueAtTime(0.001, begins + LASTS);
    tone.connect(level).connect(context.destination);
    tone.start(begins);
    tone.stop(begins + LASTS);
  });
}
