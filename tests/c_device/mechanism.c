/* A simulated mechanism: one deck, one exit, and in a shuffler a tray. */
#include "mechanism.h"

enum { DECK = 52 };
static const uint16_t TAKES_MS[] = {
    [CARDLINK_DISPENSE] = 400, [CARDLINK_SHUFFLE] = 3000, [CARDLINK_UNLOAD] = 1000, [CARDLINK_SELF_TEST] = 500};
static const char ZONE[] = "transport";

static const uint8_t *next_card(const struct mechanism *m)
{
    return m->cards + (m->count - m->left);
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

static void leave(struct mechanism *m, uint32_t count)
{
    m->left -= count;
    m->face_up_next = false;
}

/* What a shuffle counts: the device knows a deck of 52. */
static struct cardlink_count counted(const struct mechanism *m)
{
    struct cardlink_count found = {0, 0, 0, 0, 0, 0, 0};
    found.count = m->count;
    found.missing = m->count < DECK ? DECK - m->count : 0;
    found.extra = m->count > DECK ? m->count - DECK : 0;
    found.duplicate = found.extra;
    return found;
}

/* ---- What the host orders ---- */

const char *mechanism_move(void *mechanism, enum cardlink_order order, uint32_t count)
{
    struct mechanism *m = mechanism;
    m->moving = order;
    m->moving_since = m->cardlink->now;
    m->set = count;
    if (order == CARDLINK_SHUFFLE)
        m->face_up_next = false;
    return NULL;
}

void mechanism_hold(void *mechanism, bool held)
{
    struct mechanism *m = mechanism;
    m->locked = held;
}

static void form_set(struct mechanism *m, uint32_t now)
{
    const uint8_t *first = next_card(m);
    m->tray = m->set + (m->double_next && m->left > m->set ? 1 : 0);
    m->double_next = false;
    leave(m, m->tray);
    cardlink_set_dispensed(m->cardlink, now, first, m->tray);
}

static void unload(struct mechanism *m, uint32_t now)
{
    uint32_t out = m->left + m->tray;
    m->left = 0;
    m->tray = 0;
    cardlink_stub_unloaded(m->cardlink, now, out);
}

void mechanism_tick(struct mechanism *m, uint32_t now)
{
    enum cardlink_order ended = m->moving;
    struct cardlink_count found = counted(m);
    if (ended == 0 || now - m->moving_since < TAKES_MS[ended])
        return;
    m->moving = 0;
    switch (ended) {
    case CARDLINK_DISPENSE:
        form_set(m, now);
        break;
    case CARDLINK_SHUFFLE:
        mix(m);
        cardlink_shuffle_finished(m->cardlink, now, &found);
        break;
    case CARDLINK_UNLOAD:
        unload(m, now);
        break;
    default:
        cardlink_self_test_finished(m->cardlink, now, true, "");
        break;
    }
    cardlink_finished(m->cardlink, now, NULL);
}

/* ---- Acts of people at the device ---- */

bool mechanism_load(struct mechanism *m, uint32_t now, uint32_t count, uint32_t seed)
{
    if (count < 1 || count > CARDS || m->moving != 0)
        return false;
    m->count = m->left = count;
    m->face_up_next = m->double_next = false;
    for (uint32_t i = 0; i < count; i++)
        m->cards[i] = (uint8_t)(i % DECK + 1);
    m->pseudo_random = seed != 0 ? seed : 1;
    if (seed != 0)
        mix(m);
    cardlink_deck_loaded(m->cardlink, now, count);
    return true;
}

bool mechanism_lift(struct mechanism *m, uint32_t now)
{
    if (m->tray == 0)
        return false;
    m->tray = 0;
    cardlink_set_removed(m->cardlink, now);
    return true;
}

/* In a shuffler two cards together give the next set one card more than ordered. */
bool mechanism_draw(struct mechanism *m, uint32_t now, uint32_t cards)
{
    const uint8_t *first = next_card(m);
    bool face_up = m->face_up_next;
    if (!m->shoe) {
        m->double_next = cards > 1;
        return cards > 1;
    }
    if (m->locked || m->jammed || m->left < cards)
        return false;
    leave(m, cards);
    if (cards > 1)
        cardlink_drawn_together(m->cardlink, now, false, first, cards);
    else
        cardlink_card_drawn(m->cardlink, now, *first, face_up ? CARDLINK_FACE_UP : CARDLINK_FACE_DOWN);
    return true;
}

bool mechanism_face_up(struct mechanism *m, uint32_t now)
{
    if (m->cardlink->deck.shuffle == 0 || m->left == 0 || m->face_up_next)
        return false;
    m->face_up_next = true;
    cardlink_face_up_found(m->cardlink, now, *next_card(m));
    return true;
}

bool mechanism_drop(struct mechanism *m)
{
    if (m->left == 0)
        return false;
    leave(m, 1);
    return true;
}

bool mechanism_jam(struct mechanism *m, uint32_t now, bool jammed)
{
    enum cardlink_order stopped = m->moving;
    struct cardlink_count found = counted(m);
    if (m->jammed == jammed)
        return false;
    m->jammed = jammed;
    if (!jammed) {
        cardlink_jam_cleared(m->cardlink, now, ZONE);
        return true;
    }
    cardlink_jammed(m->cardlink, now, ZONE);
    m->moving = 0;
    if (stopped == CARDLINK_SHUFFLE)
        cardlink_shuffle_aborted(m->cardlink, now, &found);
    if (stopped != 0)
        cardlink_finished(m->cardlink, now, "jam");
    return true;
}
