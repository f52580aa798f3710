/* A simulated shuffler or shoe with one deck, as the user of device_kit, and the acts of people at it. */
#ifndef MECHANISM_H
#define MECHANISM_H

#include "cardlink.h"

enum { CARDS = 60 };

struct mechanism {
    struct cardlink *cardlink;
    bool shoe;
    uint8_t cards[CARDS]; /* the deck as it was put in, or as it was shuffled */
    uint32_t count;       /* cards put in */
    uint32_t left;        /* cards still in the device, without the tray */
    uint32_t tray;        /* cards in the tray */
    uint32_t set;         /* cards of the set in motion */
    uint32_t pseudo_random;
    bool face_up_next, double_next, jammed, locked;
    enum cardlink_order moving; /* 0 when nothing moves */
    uint32_t moving_since;
};

const char *mechanism_move(void *mechanism, enum cardlink_order order, uint32_t count);
void mechanism_hold(void *mechanism, bool held);
void mechanism_tick(struct mechanism *m, uint32_t now);
/* Each returns false if it is impossible. */
bool mechanism_load(struct mechanism *m, uint32_t now, uint32_t count, uint32_t seed); /* seed 0: the fixed order */
bool mechanism_lift(struct mechanism *m, uint32_t now);
bool mechanism_draw(struct mechanism *m, uint32_t now, uint32_t cards);
bool mechanism_face_up(struct mechanism *m, uint32_t now);
bool mechanism_drop(struct mechanism *m); /* a card falls out of the device, and no sensor sees it */
bool mechanism_jam(struct mechanism *m, uint32_t now, bool jammed);

#endif
