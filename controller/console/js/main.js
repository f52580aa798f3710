// Starts the console: follows the table, and draws every region once a frame after a change.

import * as answer from "./answer.js";
import * as bar from "./bar.js";
import { connect } from "./contact.js";
import { attr, mark } from "./dom.js";
import { listen } from "./keys.js";
import * as panel from "./panel.js";
import * as sentence from "./sentence.js";
import * as stage from "./stage.js";
import { inContact, isOvertaken, store } from "./store.js";
import { load } from "./words.js";

await load();
connect();
listen();
store.subscribe(() => {
  mark(document.body, "no-contact", !inContact());
  mark(document.body, "overtaken", isOvertaken());
  // The panel comes first: it decides what B asks, and which places of C may be tapped.
  for (const region of [panel, sentence, stage, bar, answer]) region.render(store.screen);
  attr(document.body, "data-entry", store.screen?.entry ?? false); // the last journal entry that is drawn
});
