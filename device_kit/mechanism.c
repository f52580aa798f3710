/* What the mechanism saw, as reports and as the status: "Reports", "Status". The deck, its count and the places of its
 * cards follow from the reports, so that a status cannot contradict them.  SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

enum tag {
    STARTED = 1, DECK_LOADED = 2, SHUFFLE_STARTED = 3, SHUFFLE_FINISHED = 4, SHUFFLE_ABORTED = 5, SET_DISPENSED = 6,
    SET_REMOVED = 7, CARD_DRAWN = 8, DRAWN_TOGETHER = 9, FACE_UP_FOUND = 10, STUB_UNLOADED = 11, JAMMED = 12,
    JAM_CLEARED = 13, DOOR_MOVED = 14, SELF_TEST_FINISHED = 15, POWER_LOW = 16, TAMPERED = 17, BUTTON_PRESSED = 18,
    CHECK_FAILED = 20
};
enum { TEXT_MOST = 32, CARDS_MOST = 32, FAULTS_MOST = 48 };

bool cl_can(const struct cardlink *c, enum cardlink_capability capability)
{
    return (c->config->capabilities & (uint32_t)capability) != 0;
}

static uint32_t remaining(const struct cl_deck *deck)
{
    return deck->loaded > deck->dispensed ? deck->loaded - deck->dispensed : 0;
}

/* ---- Bodies ---- */

static void report_numbers(struct cardlink *c, uint8_t tag, size_t fields, const uint32_t *numbers)
{
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_report_body(c, &body, bytes, tag, fields);
    for (size_t i = 0; i < fields; i++)
        cl_put_uint(&body, numbers[i]);
    cl_report_make(c, &body);
}

static void report_text(struct cardlink *c, uint8_t tag, const char *text)
{
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_report_body(c, &body, bytes, tag, 1);
    cl_put_text(&body, text, TEXT_MOST);
    cl_report_make(c, &body);
}

static void report_bool(struct cardlink *c, uint8_t tag, bool value, const char *detail)
{
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_report_body(c, &body, bytes, tag, detail != NULL ? 2 : 1);
    cl_put_bool(&body, value);
    if (detail != NULL)
        cl_put_text(&body, detail, body.room - body.size - 2);
    cl_report_make(c, &body);
}

/* Begins a report of cards that leave, and counts them. */
static void body_of_cards(struct cardlink *c, struct cl_writer *body, uint8_t bytes[CARDLINK_REPORT_BODY], uint8_t tag,
                          size_t fields, uint32_t count)
{
    struct cl_deck *deck = &c->deck;
    uint32_t ordinal = deck->dispensed + 1;
    deck->dispensed += count;
    cl_report_body(c, body, bytes, tag, 4 + fields);
    cl_put_uint(body, deck->shuffle);
    cl_put_uint(body, ordinal);
    cl_put_uint(body, remaining(deck));
    cl_put_uint(body, deck->deck);
}

static void put_cards(struct cl_writer *body, const uint8_t *cards, uint32_t count)
{
    cl_put_array(body, count);
    for (uint32_t i = 0; i < count; i++)
        cl_put_uint(body, cards[i]);
}

static uint32_t at_most(size_t count)
{
    return count < CARDS_MOST ? (uint32_t)count : (uint32_t)CARDS_MOST;
}

/* ---- The deck ---- */

void cl_report_started(struct cardlink *c, const char *cause)
{
    report_text(c, STARTED, cause);
}

void cardlink_deck_loaded(struct cardlink *c, uint32_t now, uint32_t count)
{
    struct cl_deck *deck = &c->deck;
    uint32_t fields[3];
    cl_time(c, now);
    deck->deck = cl_draw_id(c, "deck");
    deck->shuffle = c->config->kind == CARDLINK_SHOE ? cl_draw_id(c, "shuffle") : 0;
    deck->loaded = count;
    deck->dispensed = 0;
    deck->sets = 0;
    deck->unloaded = false;
    fields[0] = deck->deck;
    fields[1] = count;
    fields[2] = deck->shuffle;
    report_numbers(c, DECK_LOADED, 3, fields);
}

void cl_report_shuffle_started(struct cardlink *c)
{
    c->deck.shuffle = 0;
    report_numbers(c, SHUFFLE_STARTED, 1, &c->deck.deck);
}

void cardlink_shuffle_finished(struct cardlink *c, uint32_t now, const struct cardlink_count *found)
{
    uint32_t fields[2 + sizeof *found / sizeof(uint32_t)];
    cl_time(c, now);
    c->deck.shuffle = cl_draw_id(c, "shuffle");
    c->deck.loaded = found->count;
    fields[0] = c->deck.deck;
    fields[1] = c->deck.shuffle;
    (void)memcpy(fields + 2, found, sizeof *found);
    report_numbers(c, SHUFFLE_FINISHED, sizeof fields / sizeof *fields, fields);
}

void cardlink_shuffle_aborted(struct cardlink *c, uint32_t now, const struct cardlink_count *found)
{
    uint32_t fields[1 + sizeof *found / sizeof(uint32_t)];
    cl_time(c, now);
    fields[0] = c->deck.deck;
    (void)memcpy(fields + 1, found, sizeof *found);
    report_numbers(c, SHUFFLE_ABORTED, sizeof fields / sizeof *fields, fields);
}

void cardlink_set_dispensed(struct cardlink *c, uint32_t now, const uint8_t *cards, size_t count)
{
    struct cl_deck *deck = &c->deck;
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_time(c, now);
    deck->tray_shuffle = deck->shuffle;
    deck->tray_ordinal = deck->dispensed + 1;
    deck->tray = cl_can(c, CARDLINK_TRAY);
    deck->sets++;
    body_of_cards(c, &body, bytes, SET_DISPENSED, 1, at_most(count));
    put_cards(&body, cards, at_most(count));
    cl_report_make(c, &body);
}

void cardlink_set_removed(struct cardlink *c, uint32_t now)
{
    uint32_t fields[2];
    cl_time(c, now);
    if (!c->deck.tray) /* it left with the stub, or was reported */
        return;
    c->deck.tray = false;
    fields[0] = c->deck.tray_shuffle;
    fields[1] = c->deck.tray_ordinal;
    report_numbers(c, SET_REMOVED, 2, fields);
    cl_form_next(c);
}

void cardlink_card_drawn(struct cardlink *c, uint32_t now, uint8_t card, enum cardlink_face face)
{
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_time(c, now);
    body_of_cards(c, &body, bytes, CARD_DRAWN, 2, 1);
    cl_put_uint(&body, card);
    if (face == CARDLINK_FACE_UNKNOWN)
        cl_put_nil(&body);
    else
        cl_put_bool(&body, face == CARDLINK_FACE_UP);
    cl_report_make(c, &body);
}

void cardlink_drawn_together(struct cardlink *c, uint32_t now, bool order_known, const uint8_t *cards, size_t count)
{
    uint8_t bytes[CARDLINK_REPORT_BODY];
    struct cl_writer body;
    cl_time(c, now);
    body_of_cards(c, &body, bytes, DRAWN_TOGETHER, 2, at_most(count));
    cl_put_bool(&body, order_known);
    put_cards(&body, cards, at_most(count));
    cl_report_make(c, &body);
}

void cardlink_face_up_found(struct cardlink *c, uint32_t now, uint8_t card)
{
    uint32_t fields[4];
    cl_time(c, now);
    fields[0] = c->deck.shuffle;
    fields[1] = c->deck.dispensed + 1;
    fields[2] = c->deck.deck;
    fields[3] = card;
    report_numbers(c, FACE_UP_FOUND, 4, fields);
}

void cardlink_stub_unloaded(struct cardlink *c, uint32_t now, uint32_t count)
{
    uint32_t fields[2];
    cl_time(c, now);
    c->deck.unloaded = true;
    c->deck.tray = false; /* that set left with the stub: no "set removed" follows */
    fields[0] = c->deck.deck;
    fields[1] = count;
    report_numbers(c, STUB_UNLOADED, 2, fields);
}

/* ---- Faults ---- */

static void set_fault(struct cardlink *c, const char *word, bool jam, bool present)
{
    struct cl_fault *free_place = NULL;
    for (uint32_t i = 0; i < CL_FAULTS; i++) {
        struct cl_fault *fault = &c->deck.faults[i];
        if (fault->word == NULL) {
            free_place = free_place == NULL ? fault : free_place;
        } else if (fault->jam == jam && strcmp(fault->word, word) == 0) {
            if (!present)
                fault->word = NULL;
            return;
        } else {
            /* another fault */
        }
    }
    if (present && free_place != NULL) {
        free_place->word = word;
        free_place->jam = jam;
    }
}

bool cl_is_jammed(const struct cardlink *c)
{
    bool jammed = false;
    for (uint32_t i = 0; i < CL_FAULTS; i++)
        jammed = jammed || (c->deck.faults[i].word != NULL && c->deck.faults[i].jam);
    return jammed;
}

void cardlink_fault(struct cardlink *c, const char *word, bool present)
{
    set_fault(c, word, false, present);
}

void cardlink_jammed(struct cardlink *c, uint32_t now, const char *zone)
{
    cl_time(c, now);
    set_fault(c, zone, true, true);
    report_text(c, JAMMED, zone);
}

void cardlink_jam_cleared(struct cardlink *c, uint32_t now, const char *zone)
{
    cl_time(c, now);
    set_fault(c, zone, true, false);
    report_text(c, JAM_CLEARED, zone);
}

void cardlink_door_moved(struct cardlink *c, uint32_t now, bool open)
{
    cl_time(c, now);
    c->deck.door_open = open;
    report_bool(c, DOOR_MOVED, open, NULL);
}

void cardlink_self_test_finished(struct cardlink *c, uint32_t now, bool passed, const char *detail)
{
    cl_time(c, now);
    report_bool(c, SELF_TEST_FINISHED, passed, detail);
}

void cardlink_power_low(struct cardlink *c, uint32_t now)
{
    cl_time(c, now);
    report_numbers(c, POWER_LOW, 0, NULL);
}

void cardlink_tampered(struct cardlink *c, uint32_t now, const char *where)
{
    cl_time(c, now);
    report_text(c, TAMPERED, where);
}

void cardlink_button_pressed(struct cardlink *c, uint32_t now, const char *button)
{
    cl_time(c, now);
    report_text(c, BUTTON_PRESSED, button);
}

void cardlink_check_failed(struct cardlink *c, uint32_t now, const char *what)
{
    cl_time(c, now);
    report_text(c, CHECK_FAILED, what);
}

/* ---- Status ---- */

/* Names as many faults as "Status" has room for. The first pass counts them. */
static void put_faults(const struct cardlink *c, struct cl_writer *to)
{
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0, total = 0;
        for (uint32_t i = 0; i <= CL_FAULTS; i++) {
            bool door = i == CL_FAULTS;
            const char *word = door ? (c->deck.door_open ? "door" : NULL) : c->deck.faults[i].word;
            bool jam = !door && c->deck.faults[i].jam;
            size_t size = word == NULL ? FAULTS_MOST : strlen(word) + (jam ? 6u : 1u);
            if (total + size > FAULTS_MOST || word == NULL)
                continue;
            total += size;
            count++;
            if (pass == 1)
                cl_put_words(to, jam ? "jam: " : "", word);
        }
        if (pass == 0)
            cl_put_array(to, count);
    }
}

void cl_put_status(const struct cardlink *c, struct cl_writer *to)
{
    const struct cl_deck *deck = &c->deck;
    const uint32_t *taken = c->link.session.taken;
    cl_put_array(to, 13);
    cl_put_uint(to, cl_newest(c));
    cl_put_u64(to, c->uptime);
    cl_put_uint(to, deck->shuffle);
    cl_put_uint(to, deck->loaded);
    cl_put_uint(to, deck->dispensed);
    cl_put_uint(to, remaining(deck));
    cl_put_uint(to, deck->sets);
    cl_put_bool(to, deck->tray);
    cl_put_bool(to, deck->exit_held);
    cl_put_bool(to, deck->moving != 0);
    cl_put_u64(to, deck->last_command);
    cl_put_uint(to, taken[0] > taken[1] ? taken[0] : taken[1]);
    put_faults(c, to);
}
