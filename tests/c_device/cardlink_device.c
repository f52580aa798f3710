/* The device's side of a link once it is proven: sealed frames, signs of life, commands and answers. */
#include "cardlink_device.h"

#include <string.h>

enum { SEALED = HEADER + COUNTER + TAG, FORGED_MOST = 1 << 20, TEXT_MOST = 32, DISPENSE_MOST = 5 };
enum { CANDIDATE_MS = 3000, LIFE_MS = 3000, FRESH_MS = 5000, STATUS_MS = 1000, MARK_MS = 500 };

/* ---- Sending ---- */

void put_header(const struct device *d, uint8_t *frame, enum kind kind)
{
    frame[0] = VERSION;
    frame[1] = (uint8_t)kind;
    frame[2] = 0;
    store_le(frame + 3, d->boot);
    store_le(frame + 7, d->newest);
}

static size_t put_reject(uint8_t *to, size_t room, const char *code, const char *text)
{
    struct writer body = {to, room, 0, false};
    put_array(&body, 2);
    put_text(&body, code);
    put_text(&body, text);
    return body.size;
}

void reject(struct device *d, const char *code, const char *text)
{
    uint8_t frame[FRAME];
    put_header(d, frame, REJECT);
    queue_frame(&d->output, frame, HEADER + put_reject(frame + HEADER, FRAME - HEADER - CRC, code, text));
}

static void reject_sealed(struct device *d)
{
    uint8_t body[64];
    size_t size = put_reject(body, sizeof body, "message", "a sealed body was not understood");
    link_send(d, SEALED_REJECT, d->boot, d->newest, body, size);
}

static void nonce_of(uint32_t counter, uint8_t nonce[12])
{
    memset(nonce, 0, 12);
    store_le(nonce + 8, counter);
}

/* Seals with a new counter and queues. Where the output is full the frame is dropped: the host asks again for reports
 * and answers, and a status follows within a second. */
void link_send(struct device *d, enum kind kind, uint32_t boot, uint32_t number, const uint8_t *body, size_t size)
{
    struct session *s = &d->link.session;
    uint8_t frame[FRAME], nonce[12], *text = frame + HEADER + COUNTER;
    if (!d->link.active || s->sent == UINT32_MAX || size > FRAME - SEALED - CRC)
        return;
    put_header(d, frame, kind);
    store_le(frame + 3, boot);
    store_le(frame + 7, number);
    store_le(frame + HEADER, ++s->sent);
    memcpy(text, body, size);
    nonce_of(s->sent, nonce);
    seal_text(s->device_key, nonce, frame, HEADER + COUNTER, text, size, text + size);
    if (!queue_frame(&d->output, frame, SEALED + size))
        return;
    if (d->link.marked == 0 || d->now - d->link.marks[(d->link.marked - 1) % MARKS].at >= MARK_MS)
        d->link.marks[d->link.marked++ % MARKS] = (struct mark){s->sent, d->now};
}

void link_send_status(struct device *d)
{
    uint8_t bytes[FRAME];
    struct writer body = {bytes, sizeof bytes, 0, false};
    put_status(d, &body);
    link_send(d, STATUS, d->boot, d->newest, bytes, body.size);
    d->link.status_at = d->now;
}

static void discard_output(struct device *d)
{
    d->output.sent = d->output.queued;
}

/* "Host lost"; a candidate keeps its own timeout. */
static void lose_link(struct device *d)
{
    wipe(&d->link, sizeof d->link);
    discard_output(d);
    mechanism_host_lost(d);
    d->config.lost(d->config.context);
}

/* ---- Commands ---- */

struct command *command_known(struct device *d, uint64_t id)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (d->link.commands[i].known && d->link.commands[i].id == id)
            return &d->link.commands[i];
    return NULL;
}

/* A command that is still being carried out is not forgotten. */
static struct command *command_remember(struct device *d, uint64_t id)
{
    for (unsigned i = 0; i < COMMANDS; i++) {
        unsigned slot = (d->link.next_command + i) % COMMANDS;
        struct command *command = &d->link.commands[slot];
        if (command->known && !command->answered)
            continue;
        if (command->known && command->id >= d->link.forgotten)
            d->link.forgotten = command->id + 1;
        *command = (struct command){.known = true, .id = id};
        d->link.next_command = (slot + 1) % COMMANDS;
        return command;
    }
    return NULL;
}

static void send_answer(struct device *d, const struct command *command)
{
    uint8_t bytes[64];
    struct writer body = {bytes, sizeof bytes, 0, false};
    put_array(&body, 3);
    put_uint(&body, command->id);
    put_bool(&body, command->reason == NULL);
    put_text(&body, command->reason ? command->reason : "");
    link_send(d, ANSWER, d->boot, command->number, bytes, body.size);
}

void command_end(struct device *d, struct command *command, const char *reason)
{
    command->answered = true;
    command->reason = reason;
    command->number = d->newest;
    send_answer(d, command);
}

static bool read_order(struct reader *body, size_t fields, struct command *command, uint64_t *count)
{
    size_t own = 0, taken = 1;
    uint64_t tag = 0;
    if (fields < 2 || !get_array(body, &own) || own < 1 || !get_uint(body, UINT8_MAX, &tag) || tag < DISPENSE ||
        tag > SELF_TEST)
        return false;
    if (tag == DISPENSE || tag == SHOW) {
        taken = 2;
        if (own < 2)
            return false;
        if (tag == DISPENSE ? !get_uint(body, DISPENSE_MOST, count) || *count < 1 : !get_text(body, TEXT_MOST))
            return false;
    }
    command->order = (uint8_t)tag;
    return skip(body, own - taken) && skip(body, fields - 2) && body->at == body->end;
}

static void take_command(struct device *d, struct reader *body)
{
    struct command *command;
    size_t fields = 0;
    uint64_t id = 0, count = 0;
    if (!get_array(body, &fields) || fields < 1 || !get_uint(body, INT64_MAX, &id)) {
        reject_sealed(d);
        return;
    }
    command = command_known(d, id);
    if (command != NULL) {
        if (command->answered)
            send_answer(d, command);
        return;
    }
    if (id < d->link.forgotten) /* ids rise, so this one was carried out on this link, or 16 others came after it */
        return;
    command = command_remember(d, id);
    if (command == NULL)
        return; /* 16 are being carried out; the host repeats it */
    if (read_order(body, fields, command, &count))
        mechanism_order(d, command, (uint32_t)count);
    else
        command_end(d, command, "unknown");
}

/* ---- Sealed frames ---- */

static void heard(struct device *d, uint32_t counter)
{
    uint32_t marks = d->link.marked < MARKS ? d->link.marked : MARKS;
    if (counter > d->link.session.sent)
        return;
    for (uint32_t i = 1; i <= marks; i++) {
        const struct mark *mark = &d->link.marks[(d->link.marked - i) % MARKS];
        if (mark->counter > counter)
            continue;
        if (d->now - mark->at <= FRESH_MS)
            d->link.fresh_at = d->now;
        return;
    }
}

static void activate(struct device *d)
{
    wipe(&d->link, sizeof d->link);
    d->link.session = d->candidate.session;
    wipe(&d->candidate, sizeof d->candidate);
    discard_output(d);
    d->link.active = true;
    d->link.fresh_at = d->now;
    d->config.activated(d->config.context);
}

static bool opens(const struct session *s, uint8_t *frame, size_t size)
{
    uint8_t nonce[12], *text = frame + HEADER + COUNTER;
    nonce_of(load_le(frame + HEADER), nonce);
    return open_text(s->host_key, nonce, frame, HEADER + COUNTER, text, size - SEALED, frame + size - TAG);
}

static void take_forged(struct device *d, bool for_candidate)
{
    if (!d->link.active && !for_candidate)
        return; /* without a key it cannot count as forged */
    d->forged++;
    if (for_candidate && ++d->candidate.session.forged >= FORGED_MOST)
        wipe(&d->candidate, sizeof d->candidate);
    if (d->link.active && ++d->link.session.forged >= FORGED_MOST)
        lose_link(d);
}

static void take_opened(struct device *d, const uint8_t *frame, size_t size)
{
    struct reader body = {frame + HEADER + COUNTER, frame + size - TAG};
    size_t fields = 0;
    uint64_t boot = 0, number = 0;
    if (frame[1] != RESUME && !d->link.resumed) {
        reject_sealed(d); /* "A link", device, rule 3 */
        return;
    }
    switch (frame[1]) {
    case RESUME:
        if (!get_array(&body, &fields) || fields < 2 || !get_uint(&body, UINT32_MAX, &boot) ||
            !get_uint(&body, UINT32_MAX, &number) || !skip(&body, fields - 2) || body.at != body.end) {
            reject_sealed(d);
            break;
        }
        reports_resume(d, (uint32_t)boot, (uint32_t)number);
        break;
    case ACK:
        if (!get_array(&body, &fields) || fields < 1 || !get_uint(&body, UINT32_MAX, &number) ||
            !skip(&body, fields - 1) || body.at != body.end) {
            reject_sealed(d);
            break;
        }
        heard(d, (uint32_t)number);
        reports_cover(d, load_le(frame + 3), load_le(frame + 7));
        break;
    case COMMAND:
        if (load_le(frame + 3) == d->boot)
            take_command(d, &body);
        break;
    default:
        break; /* an unknown kind that opens is a sign of life: "Kinds" */
    }
}

static void take_sealed(struct device *d, uint8_t *frame, size_t size)
{
    uint8_t flags = frame[2];
    bool for_candidate = frame[1] == RESUME && d->candidate.proven;
    bool of_link;
    struct session *s;
    uint32_t counter;
    if (flags > 1 || size < SEALED)
        return;
    of_link = d->link.active && opens(&d->link.session, frame, size);
    if (!of_link && !(for_candidate && opens(&d->candidate.session, frame, size))) {
        take_forged(d, for_candidate);
        return;
    }
    s = of_link ? &d->link.session : &d->candidate.session;
    counter = load_le(frame + HEADER);
    if (counter <= s->taken[flags]) {
        d->repeated++;
        return;
    }
    s->taken[flags] = counter;
    if (!of_link)
        activate(d);
    d->link.life_at = d->now;
    take_opened(d, frame, size);
}

/* ---- From outside ---- */

static void take(struct device *d, uint8_t *frame, size_t size)
{
    switch (frame[1]) {
    case IDENTITY:
    case DEVICE_PROOF:
    case REJECT:
    case SEALED_REJECT:
    case REPORT:
    case STATUS:
    case ANSWER:
        return; /* an echo: "Kinds" */
    case HELLO:
        take_hello(d, frame, size);
        return;
    default:
        break;
    }
    if (frame[0] != VERSION)
        return;
    if (frame[1] == HOST_PROOF)
        take_proof(d, frame, size);
    else
        take_sealed(d, frame, size);
}

void device_start(struct device *d, const struct config *config, const char *cause, uint64_t now)
{
    uint8_t bytes[REPORT_BODY];
    struct writer body;
    wipe(d, sizeof *d);
    d->config = *config;
    d->now = d->started_at = now;
    d->boot = draw_id(d, "boot");
    d->mechanism.exit_held = true; /* "Host lost" */
    report_start(d, &body, bytes, 1, 1);
    put_text(&body, cause);
    report_make(d, &body);
}

void device_receive(struct device *d, const uint8_t *bytes, size_t size, uint64_t now)
{
    d->now = now;
    for (size_t i = 0; i < size; i++) {
        size_t frame_size = receive_byte(&d->line, bytes[i]);
        if (frame_size > 0)
            take(d, d->line.frame, frame_size);
    }
}

void device_tick(struct device *d, uint64_t now)
{
    d->now = now;
    mechanism_tick(d);
    if (d->candidate.present && now - d->candidate.fitted_at >= CANDIDATE_MS)
        wipe(&d->candidate, sizeof d->candidate);
    if (!d->link.active)
        return;
    if (now - d->link.life_at >= LIFE_MS || now - d->link.fresh_at >= FRESH_MS) {
        lose_link(d);
        return;
    }
    if (d->link.resumed && now - d->link.status_at >= STATUS_MS)
        link_send_status(d);
    reports_tick(d);
}

size_t device_output(const struct device *d, const uint8_t **bytes)
{
    size_t waiting = (size_t)(d->output.queued - d->output.sent);
    size_t at = (size_t)(d->output.sent % OUTPUT);
    *bytes = d->output.bytes + at;
    return waiting < OUTPUT - at ? waiting : OUTPUT - at;
}

void device_sent(struct device *d, size_t size, uint64_t now)
{
    d->now = now;
    d->output.sent += size;
    reports_tick(d);
}
