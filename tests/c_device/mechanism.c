/* A simulated mechanism: one deck, one exit, and in a shuffler a tray. It implements "Commands" and "Status". */
#include "cardlink_device.h"

#include <string.h>

enum tag {
    DECK_LOADED = 2, SHUFFLE_STARTED = 3, SHUFFLE_FINISHED = 4, SHUFFLE_ABORTED = 5, SET_DISPENSED = 6, SET_REMOVED = 7,
    CARD_DRAWN = 8, DRAWN_TOGETHER = 9, FACE_UP_FOUND = 10, STUB_UNLOADED = 11, JAMMED = 12, JAM_CLEARED = 13,
    SELF_TEST_FINISHED = 15
};
enum { DECK = 52 };
static const uint16_t TAKES_MS[] = {[DISPENSE] = 400, [SHUFFLE] = 3000, [UNLOAD_STUB] = 1000, [SELF_TEST] = 500};
static const char ZONE[] = "transport";

static uint32_t first_left(const struct mechanism *m)
{
    return m->count - m->left;
}

/* Xorshift: the order of the simulated cards can be predicted, which only a simulation may do. */
static void mix(struct mechanism *m)
{
    for (uint32_t i = m->count; i > 1; i--) {
        uint32_t other;
        uint8_t card = m->cards[i - 1];
        m->pseudo_random ^= m->pseudo_random << 13;
        m->pseudo_random ^= m->pseudo_random >> 17;
        m->pseudo_random ^= m->pseudo_random << 5;
        other = m->pseudo_random % i;
        m->cards[i - 1] = m->cards[other];
        m->cards[other] = card;
    }
}

static void put_cards(struct device *d, struct writer *to, uint32_t count)
{
    put_array(to, count);
    for (uint32_t i = 0; i < count; i++)
        put_uint(to, d->mechanism.cards[first_left(&d->mechanism) + i]);
}

static void leave(struct mechanism *m, uint32_t count)
{
    m->left -= count;
    m->dispensed += count;
    m->face_up_next = false;
}

/* ---- Reports ---- */

static void report_zone(struct device *d, uint8_t tag)
{
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    report_start(d, &body, bytes, tag, 1);
    put_text(&body, ZONE);
    report_make(d, &body);
}

static void report_numbers(struct device *d, uint8_t tag, size_t fields, const uint32_t *numbers)
{
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    report_start(d, &body, bytes, tag, fields);
    for (size_t i = 0; i < fields; i++)
        put_uint(&body, numbers[i]);
    report_make(d, &body);
}

/* The last fields are missing, extra, duplicate, unreadable, foreign, face_up: the device knows a deck of 52. */
static void report_shuffle_ended(struct device *d, bool finished)
{
    const struct mechanism *m = &d->mechanism;
    uint32_t missing = m->count < DECK ? DECK - m->count : 0, extra = m->count > DECK ? m->count - DECK : 0;
    uint32_t all[] = {m->deck, m->shuffle, m->count, missing, extra, extra, 0, 0, 0};
    uint32_t aborted[] = {m->deck, m->count, missing, extra, extra, 0, 0, 0};
    if (finished)
        report_numbers(d, SHUFFLE_FINISHED, sizeof all / sizeof *all, all);
    else
        report_numbers(d, SHUFFLE_ABORTED, sizeof aborted / sizeof *aborted, aborted);
}

/* ---- The exit: "hold exit", "release exit" ---- */

static void settle_exit(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    if (m->exit_wanted == NOTHING)
        return;
    m->exit_held = m->exit_wanted == HOLD_EXIT;
    m->exit_wanted = NOTHING;
    for (unsigned i = 0; i < COMMANDS; i++) {
        struct command *command = &d->link.commands[(d->link.next_command + i) % COMMANDS];
        if (command->known && !command->answered && (command->order == HOLD_EXIT || command->order == RELEASE_EXIT))
            command_end(d, command, NULL);
    }
}

/* A set in motion first falls into the tray; only then is the order answered. */
static void want_exit(struct device *d, enum order order)
{
    d->mechanism.exit_wanted = order;
    if (d->mechanism.moving != DISPENSE)
        settle_exit(d);
}

void mechanism_host_lost(struct device *d)
{
    want_exit(d, HOLD_EXIT);
}

/* ---- Motion ---- */

static void move(struct device *d, struct command *command)
{
    struct mechanism *m = &d->mechanism;
    m->moving = command->order;
    m->moving_id = command->id;
    m->moving_until = d->now + TAKES_MS[command->order];
    if (command->order == SHUFFLE) {
        m->shuffle = 0;
        m->face_up_next = false;
        report_numbers(d, SHUFFLE_STARTED, 1, &m->deck);
    }
}

static void end_motion(struct device *d, const char *reason)
{
    struct mechanism *m = &d->mechanism;
    struct command *command = command_known(d, m->moving_id);
    if (reason == NULL)
        m->last_command = m->moving_id;
    m->moving = NOTHING;
    if (command != NULL && !command->answered) /* a new link has forgotten it */
        command_end(d, command, reason);
    settle_exit(d);
}

static void form_set(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    uint32_t count = m->set_cards + (m->double_next && m->left > m->set_cards);
    m->double_next = false;
    m->tray_cards = count;
    m->tray_shuffle = m->shuffle;
    m->tray_ordinal = first_left(m) + 1;
    report_start(d, &body, bytes, SET_DISPENSED, 5);
    put_uint(&body, m->shuffle);
    put_uint(&body, m->tray_ordinal);
    put_uint(&body, m->left - count);
    put_uint(&body, m->deck);
    put_cards(d, &body, count);
    leave(m, count);
    m->sets++;
    report_make(d, &body);
}

static void unload(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    uint32_t out[] = {m->deck, m->left + m->tray_cards};
    m->left = 0;
    m->tray_cards = 0; /* that set left with the stub: no "set removed" follows */
    report_numbers(d, STUB_UNLOADED, 2, out);
}

void mechanism_tick(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    if (m->moving == NOTHING || d->now < m->moving_until)
        return;
    switch (m->moving) {
    case DISPENSE:
        form_set(d);
        break;
    case SHUFFLE:
        mix(m);
        m->shuffle = draw_id(d, "shuffle");
        report_shuffle_ended(d, true);
        break;
    case UNLOAD_STUB:
        unload(d);
        break;
    default:
        report_start(d, &body, bytes, SELF_TEST_FINISHED, 2);
        put_bool(&body, true);
        put_text(&body, "");
        report_make(d, &body);
        break;
    }
    end_motion(d, NULL);
}

/* ---- Orders: reasons in the order of the table under "Commands" ---- */

static bool able(const struct device *d, uint8_t order)
{
    return order == HOLD_EXIT || order == RELEASE_EXIT || order == SELF_TEST || (!d->config.shoe && order != SHOW);
}

static const char *refusal(const struct device *d, uint8_t order, uint32_t count)
{
    const struct mechanism *m = &d->mechanism;
    if (!able(d, order))
        return "unable";
    if (order == HOLD_EXIT || order == RELEASE_EXIT)
        return NULL;
    if (m->moving != NOTHING)
        return "busy";
    if (m->jammed)
        return "jam";
    if (order == DISPENSE && m->exit_held)
        return "held";
    if (order == DISPENSE && m->tray_cards > 0)
        return "tray";
    if (order == SHUFFLE && (m->left == 0 || m->left < m->count))
        return "no fresh deck";
    if (order == DISPENSE && (m->shuffle == 0 || m->left < count))
        return "empty";
    return NULL;
}

void mechanism_order(struct device *d, struct command *command, uint32_t count)
{
    const char *reason = refusal(d, command->order, count);
    if (reason != NULL)
        command_end(d, command, reason);
    else if (command->order == HOLD_EXIT || command->order == RELEASE_EXIT)
        want_exit(d, command->order);
    else {
        if (command->order == DISPENSE)
            d->mechanism.set_cards = count;
        move(d, command);
    }
}

/* ---- Status ---- */

void put_status(struct device *d, struct writer *to)
{
    const struct mechanism *m = &d->mechanism;
    const uint32_t *taken = d->link.session.taken;
    put_array(to, 13);
    put_uint(to, d->newest);
    put_uint(to, d->now - d->started_at);
    put_uint(to, m->shuffle);
    put_uint(to, m->loaded);
    put_uint(to, m->dispensed);
    put_uint(to, m->loaded - m->dispensed);
    put_uint(to, m->sets);
    put_bool(to, m->tray_cards > 0);
    put_bool(to, m->exit_held);
    put_bool(to, m->moving != NOTHING);
    put_uint(to, m->last_command);
    put_uint(to, taken[0] > taken[1] ? taken[0] : taken[1]);
    put_array(to, m->jammed ? 1 : 0);
    if (m->jammed)
        put_text(to, "jam: transport");
}

/* ---- Acts of people at the device. Each returns false where it is impossible ---- */

bool control_load(struct device *d, uint32_t count, uint32_t seed)
{
    struct mechanism *m = &d->mechanism;
    uint32_t loaded[] = {0, count, 0};
    if (count < 1 || count > CARDS || m->moving != NOTHING)
        return false;
    m->count = m->left = m->loaded = count;
    m->dispensed = m->sets = m->shuffle = 0;
    m->face_up_next = m->double_next = false;
    for (uint32_t i = 0; i < count; i++)
        m->cards[i] = (uint8_t)(i % DECK + 1);
    m->pseudo_random = seed != 0 ? seed : 1;
    if (seed != 0)
        mix(m);
    m->deck = draw_id(d, "deck");
    if (d->config.shoe)
        m->shuffle = draw_id(d, "shuffle");
    loaded[0] = m->deck;
    loaded[2] = m->shuffle;
    report_numbers(d, DECK_LOADED, 3, loaded);
    return true;
}

bool control_lift(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    uint32_t set[] = {m->tray_shuffle, m->tray_ordinal};
    if (m->tray_cards == 0)
        return false;
    m->tray_cards = 0;
    report_numbers(d, SET_REMOVED, 2, set);
    return true;
}

/* In a shuffler two cards together give the next set one card more than ordered. */
bool control_draw(struct device *d, uint32_t cards)
{
    struct mechanism *m = &d->mechanism;
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    if (!d->config.shoe) {
        m->double_next = cards > 1;
        return cards > 1;
    }
    if (m->exit_held || m->jammed || m->left < cards)
        return false;
    report_start(d, &body, bytes, cards > 1 ? DRAWN_TOGETHER : CARD_DRAWN, 6);
    put_uint(&body, m->shuffle);
    put_uint(&body, first_left(m) + 1);
    put_uint(&body, m->left - cards);
    put_uint(&body, m->deck);
    if (cards > 1) {
        put_bool(&body, false);
        put_cards(d, &body, cards);
    } else {
        put_uint(&body, m->cards[first_left(m)]);
        put_bool(&body, m->face_up_next);
    }
    leave(m, cards);
    report_make(d, &body);
    return true;
}

bool control_face_up(struct device *d)
{
    struct mechanism *m = &d->mechanism;
    uint32_t place[] = {m->shuffle, first_left(m) + 1, m->deck, 0};
    if (m->shuffle == 0 || m->left == 0 || m->face_up_next)
        return false;
    place[3] = m->cards[first_left(m)];
    m->face_up_next = true;
    report_numbers(d, FACE_UP_FOUND, 4, place);
    return true;
}

bool control_jam(struct device *d, bool jammed)
{
    struct mechanism *m = &d->mechanism;
    enum order stopped = m->moving;
    if (m->jammed == jammed)
        return false;
    m->jammed = jammed;
    report_zone(d, jammed ? JAMMED : JAM_CLEARED);
    if (!jammed || stopped == NOTHING)
        return true;
    if (stopped == SHUFFLE)
        report_shuffle_ended(d, false);
    end_motion(d, "jam");
    return true;
}
