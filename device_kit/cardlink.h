/* cardlink v1 for firmware: the device's side of docs/cardlink.md, whose sections the comments name in quotes. README.md
 * says how to build and port it.  SPDX-License-Identifier: Apache-2.0
 *
 * Everything is in one `struct cardlink` that you own. Nothing here waits, allocates, or reads a clock: `now` is a count
 * of milliseconds that may wrap. Call all functions from one context (the main loop), never from a callback. */
#ifndef CARDLINK_H
#define CARDLINK_H

#include "cardlink_state.h" /* the sizes that you may set, and the contents of `struct cardlink` */

enum cardlink_kind { CARDLINK_SHUFFLER, CARDLINK_SHOE };
enum cardlink_unit { CARDLINK_SETS, CARDLINK_SINGLES, CARDLINK_BOTH };
enum cardlink_capability { /* "Identity"; `retains_reports` follows from `flash`, `attests` from `program` */
    CARDLINK_RECOGNISES = 1, CARDLINK_ORIENTATION = 2, CARDLINK_DOUBLE_DRAW = 4, CARDLINK_TRAY = 8, CARDLINK_EXIT = 16,
    CARDLINK_UNLOADS = 32, CARDLINK_STAGES = 64, CARDLINK_ON_COMMAND = 128, CARDLINK_ON_REMOVAL = 256
};
enum cardlink_order { /* "Command" */
    CARDLINK_DISPENSE = 1, CARDLINK_HOLD, CARDLINK_RELEASE, CARDLINK_SHUFFLE, CARDLINK_UNLOAD, CARDLINK_SHOW,
    CARDLINK_SELF_TEST
};
enum cardlink_face { CARDLINK_FACE_DOWN, CARDLINK_FACE_UP, CARDLINK_FACE_UNKNOWN };
enum cardlink_endpoint { CARDLINK_MAIN, CARDLINK_INTERRUPT }; /* the second one: "USB" */

struct cardlink_flash { /* two areas; a function returns false if it fails */
    uint32_t size; /* bytes of an area, at least CARDLINK_FLASH_LEAST */
    bool (*read)(void *context, unsigned area, uint32_t at, uint8_t *bytes, size_t size);
    bool (*append)(void *context, unsigned area, uint32_t at, const uint8_t *bytes, size_t size); /* in whole units */
    bool (*erase)(void *context, unsigned area); /* every byte becomes FF */
};

struct cardlink_config { /* lives as long as the device, with all that it points to */
    enum cardlink_kind kind;
    enum cardlink_unit unit;
    uint32_t capabilities; /* one of CARDLINK_ON_COMMAND and CARDLINK_ON_REMOVAL, and any of the others */
    const char *maker, *model, *serial, *firmware, *firmware_digest; /* "Identity" has their lengths */
    const uint8_t *key;      /* 32 bytes: "Proofs" */
    uint32_t deck_size;      /* 52 */
    bool simulated;
    bool second_endpoint;    /* needs CARDLINK_INTERRUPT_OUTPUT */
    uint32_t start;          /* "The device's nonce": without `flash`, your own counter of starts, or 0 */
    void *context;           /* the first argument of every callback */
    bool (*random)(void *context, uint8_t *bytes, size_t size); /* false without a true random source */
    const char *(*move)(void *context, enum cardlink_order order, uint32_t count); /* begins; NULL, or why it cannot */
    void (*hold)(void *context, bool held); /* locks or unlocks the exit, at once */
    const char *(*show)(void *context, const uint8_t *text, size_t size); /* NULL, or why not; no callback: no display */
    const struct cardlink_flash *flash;     /* NULL: reports do not survive a loss of power */
#if CARDLINK_ATTEST > 0
    bool (*program)(void *context, uint32_t at, uint8_t *bytes, size_t size); /* NULL; or reads it, false beyond it */
#endif
    void (*linked)(void *context, bool linked); /* may be NULL: a host is there, or was lost */
    void (*reported)(void *context, uint32_t number, const uint8_t *body, size_t size); /* may be NULL: for a log */
};

/* Returns false if the configuration breaks a limit of the page; then call nothing else. `cause`: "started". */
bool cardlink_start(struct cardlink *c, const struct cardlink_config *config, const char *cause, uint32_t now);
void cardlink_receive(struct cardlink *c, uint32_t now, const uint8_t *bytes, size_t size);
void cardlink_tick(struct cardlink *c, uint32_t now); /* at least every 100 ms */

/* What can be written next, in whole frames unless a part was sent. It is valid until the next call of any function. */
size_t cardlink_output(const struct cardlink *c, enum cardlink_endpoint endpoint, const uint8_t **bytes);
void cardlink_sent(struct cardlink *c, uint32_t now, enum cardlink_endpoint endpoint, size_t size);

/* What the mechanism saw. Each makes a report ("Reports") and changes the status ("Status") accordingly. Texts have at
 * most 32 bytes, and those of jams and faults are literals. `cards`: at most 32 of them. */
void cardlink_deck_loaded(struct cardlink *c, uint32_t now, uint32_t count); /* 0: not counted */
void cardlink_shuffle_finished(struct cardlink *c, uint32_t now, const struct cardlink_count *found);
void cardlink_shuffle_aborted(struct cardlink *c, uint32_t now, const struct cardlink_count *found);
void cardlink_set_dispensed(struct cardlink *c, uint32_t now, const uint8_t *cards, size_t count);
void cardlink_set_removed(struct cardlink *c, uint32_t now);
void cardlink_card_drawn(struct cardlink *c, uint32_t now, uint8_t card, enum cardlink_face face);
void cardlink_drawn_together(struct cardlink *c, uint32_t now, bool order_known, const uint8_t *cards, size_t count);
void cardlink_face_up_found(struct cardlink *c, uint32_t now, uint8_t card); /* the next card to leave */
void cardlink_stub_unloaded(struct cardlink *c, uint32_t now, uint32_t count);
void cardlink_jammed(struct cardlink *c, uint32_t now, const char *zone);
void cardlink_jam_cleared(struct cardlink *c, uint32_t now, const char *zone);
void cardlink_door_moved(struct cardlink *c, uint32_t now, bool open);
void cardlink_self_test_finished(struct cardlink *c, uint32_t now, bool passed, const char *detail);
void cardlink_power_low(struct cardlink *c, uint32_t now);
void cardlink_tampered(struct cardlink *c, uint32_t now, const char *where);
void cardlink_button_pressed(struct cardlink *c, uint32_t now, const char *button);
void cardlink_check_failed(struct cardlink *c, uint32_t now, const char *what);
void cardlink_fault(struct cardlink *c, const char *word, bool present); /* in the status only */

/* Ends what `move` began, after its reports: NULL when it was done, otherwise a literal, the reason of the answer. */
void cardlink_finished(struct cardlink *c, uint32_t now, const char *reason);

#endif
