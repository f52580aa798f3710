/* Orders, answers and the exit: "Commands".
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

enum { TEXT_MOST = 32, DISPENSE_MOST = 5, SET = 3 };

struct order {
    uint8_t tag;
    uint32_t count;
    const uint8_t *text;
    size_t text_size;
};

/* ---- Ids and answers ---- */

static struct cl_command *known(struct cardlink *c, uint64_t id)
{
    for (uint32_t i = 0; i < CL_COMMANDS; i++)
        if (c->link.commands[i].known && c->link.commands[i].id == id)
            return &c->link.commands[i];
    return NULL;
}

/* A command that is still being carried out is not forgotten. */
static struct cl_command *remember(struct cardlink *c, uint64_t id)
{
    struct cl_link *link = &c->link;
    for (uint32_t i = 0; i < CL_COMMANDS; i++) {
        uint32_t slot = (link->next_command + i) % CL_COMMANDS;
        struct cl_command *command = &link->commands[slot];
        if (command->known && !command->answered)
            continue;
        if (command->known && command->id >= link->forgotten)
            link->forgotten = command->id + 1;
        cl_wipe(command, sizeof *command);
        command->known = true;
        command->id = id;
        link->next_command = (slot + 1) % CL_COMMANDS;
        return command;
    }
    return NULL;
}

static void send_answer(struct cardlink *c, const struct cl_command *command)
{
    uint8_t bytes[64];
    struct cl_writer body;
    cl_writer_start(&body, bytes, sizeof bytes);
    cl_put_array(&body, 3);
    cl_put_u64(&body, command->id);
    cl_put_bool(&body, command->reason == NULL);
    cl_put_text(&body, command->reason != NULL ? command->reason : "", 32);
    cl_send(c, CL_ANSWER, c->boot, command->number, bytes, body.size);
}

static void answer(struct cardlink *c, struct cl_command *command, const char *reason)
{
    command->answered = true;
    command->reason = reason;
    command->number = cl_newest(c);
    send_answer(c, command);
}

/* ---- The exit ---- */

static void settle_exit(struct cardlink *c)
{
    if (c->deck.exit_wanted == 0)
        return;
    c->deck.exit_held = c->deck.exit_wanted == CARDLINK_HOLD;
    c->deck.exit_wanted = 0;
    c->config->hold(c->config->context, c->deck.exit_held);
    for (uint32_t i = 0; i < CL_COMMANDS; i++) {
        struct cl_command *command = &c->link.commands[(c->link.next_command + i) % CL_COMMANDS];
        if (command->known && !command->answered &&
            (command->order == CARDLINK_HOLD || command->order == CARDLINK_RELEASE))
            answer(c, command, NULL);
    }
}

/* A set in motion first falls into the tray; only then is the order answered. */
static void want_exit(struct cardlink *c, enum cardlink_order order)
{
    c->deck.exit_wanted = (uint8_t)order;
    if (c->deck.moving != CARDLINK_DISPENSE) {
        settle_exit(c);
        cl_form_next(c);
    }
}

void cl_host_lost(struct cardlink *c)
{
    if (cl_can(c, CARDLINK_EXIT))
        want_exit(c, CARDLINK_HOLD);
}

/* ---- Motion ---- */

static const char *begin(struct cardlink *c, uint8_t order, uint32_t count, uint64_t id)
{
    struct cl_deck *deck = &c->deck;
    const char *reason = c->config->move(c->config->context, (enum cardlink_order)order, count);
    if (reason != NULL)
        return reason;
    deck->moving = order;
    deck->moving_id = id;
    if (order == CARDLINK_SHUFFLE)
        cl_report_shuffle_started(c);
    return NULL;
}

/* The mechanism finds out if the deck was not counted. */
static bool has_cards(const struct cl_deck *deck, uint32_t count)
{
    return deck->shuffle != 0 && !deck->unloaded && (deck->loaded == 0 || deck->dispensed + count <= deck->loaded);
}

/* Without a command: the tray is empty and the exit free, so the next set is formed. */
void cl_form_next(struct cardlink *c)
{
    const struct cl_deck *deck = &c->deck;
    bool forms = c->config->kind == CARDLINK_SHUFFLER && cl_can(c, CARDLINK_ON_REMOVAL);
    bool ready = !deck->tray && !deck->exit_held && deck->exit_wanted == 0 && has_cards(deck, SET);
    bool clear = deck->moving == 0 && !deck->door_open && !cl_is_jammed(c);
    if (forms && ready && clear)
        (void)begin(c, CARDLINK_DISPENSE, SET, 0);
}

void cardlink_finished(struct cardlink *c, uint32_t now, const char *reason)
{
    struct cl_deck *deck = &c->deck;
    struct cl_command *command = deck->moving_id != 0 ? known(c, deck->moving_id) : NULL;
    cl_time(c, now);
    if (deck->moving == 0)
        return;
    if (reason == NULL && deck->moving_id != 0)
        deck->last_command = deck->moving_id;
    deck->moving = 0;
    deck->moving_id = 0;
    if (command != NULL && !command->answered) /* a new link has forgotten it */
        answer(c, command, reason);
    settle_exit(c);
    if (reason == NULL)
        cl_form_next(c);
}

/* ---- Orders: reasons in the order of the table under "Commands" ---- */

static bool able(const struct cardlink *c, uint8_t order)
{
    switch (order) {
    case CARDLINK_DISPENSE:
        return c->config->kind == CARDLINK_SHUFFLER && cl_can(c, CARDLINK_ON_COMMAND);
    case CARDLINK_HOLD:
    case CARDLINK_RELEASE:
        return cl_can(c, CARDLINK_EXIT);
    case CARDLINK_SHUFFLE:
        return c->config->kind == CARDLINK_SHUFFLER;
    case CARDLINK_UNLOAD:
        return cl_can(c, CARDLINK_UNLOADS);
    case CARDLINK_SHOW:
        return c->config->show != NULL;
    default:
        return true;
    }
}

static const char *refusal(const struct cardlink *c, const struct order *order)
{
    const struct cl_deck *deck = &c->deck;
    if (!able(c, order->tag))
        return "unable";
    if (order->tag == CARDLINK_HOLD || order->tag == CARDLINK_RELEASE || order->tag == CARDLINK_SHOW)
        return NULL;
    if (deck->moving != 0)
        return "busy";
    if (deck->door_open)
        return "door";
    if (cl_is_jammed(c))
        return "jam";
    if (order->tag == CARDLINK_DISPENSE && deck->exit_held)
        return "held";
    if (order->tag == CARDLINK_DISPENSE && deck->tray)
        return "tray";
    if (order->tag == CARDLINK_SHUFFLE && (deck->deck == 0 || deck->unloaded || deck->dispensed > 0))
        return "no fresh deck";
    if (order->tag == CARDLINK_DISPENSE && !has_cards(deck, order->count))
        return "empty";
    return NULL;
}

static void carry_out(struct cardlink *c, struct cl_command *command, const struct order *order)
{
    const char *reason = refusal(c, order);
    if (reason != NULL) {
        answer(c, command, reason);
    } else if (order->tag == CARDLINK_HOLD || order->tag == CARDLINK_RELEASE) {
        want_exit(c, (enum cardlink_order)order->tag);
    } else if (order->tag == CARDLINK_SHOW) {
        answer(c, command, c->config->show(c->config->context, order->text, order->text_size));
    } else {
        reason = begin(c, order->tag, order->count, command->id);
        if (reason != NULL)
            answer(c, command, reason);
    }
}

static bool read_order(struct cl_reader *body, size_t fields, struct order *order)
{
    size_t more = 0;
    uint32_t tag = 0;
    bool good;
    if (fields < 1 || !cl_get_fields(body, 1, &more) || !cl_get_uint(body, CARDLINK_SELF_TEST, &tag) || tag < 1)
        return false;
    order->tag = (uint8_t)tag;
    good = true;
    if (tag == CARDLINK_DISPENSE || tag == CARDLINK_SHOW) {
        if (more < 1)
            return false;
        more--;
        if (tag == CARDLINK_SHOW)
            good = cl_get_text(body, TEXT_MOST, &order->text, &order->text_size);
        else
            good = cl_get_uint(body, DISPENSE_MOST, &order->count) && order->count > 0;
    }
    return good && cl_skip(body, more) && cl_get_end(body, fields - 1);
}

void cl_take_command(struct cardlink *c, struct cl_reader *body)
{
    struct cl_command *command;
    struct order order = {0, 0, NULL, 0};
    size_t fields = 0;
    uint64_t id = 0;
    if (!cl_get_fields(body, 1, &fields) || !cl_get_u64(body, &id) || id > INT64_MAX) {
        cl_reject_sealed(c);
        return;
    }
    command = known(c, id);
    if (command != NULL) {
        if (command->answered)
            send_answer(c, command);
        return;
    }
    if (id < c->link.forgotten) /* ids rise, so this one was carried out on this link, or 16 others came after it */
        return;
    command = remember(c, id);
    if (command == NULL)
        return; /* 16 are being carried out; the host repeats it */
    if (read_order(body, fields, &order)) {
        command->order = order.tag;
        carry_out(c, command, &order);
    } else {
        answer(c, command, "unknown");
    }
}
