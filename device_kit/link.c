/* Sealed frames and signs of life, and the functions that firmware calls for bytes and time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

enum { SEALED = CL_HEADER + CL_COUNTER + CL_TAG, FORGED_MOST = 1 << 20 };
enum { CANDIDATE_MS = 3000, LIFE_MS = 3000, FRESH_MS = 5000, STATUS_MS = 1000, MARK_MS = 500 };
enum { STATUS_BODY = 128, REJECT_BODY = 64 };
enum { BODY_MOST = CARDLINK_REPORT_BODY > STATUS_BODY ? CARDLINK_REPORT_BODY : STATUS_BODY };

/* ---- Sending ---- */

void cl_put_header(const struct cardlink *c, uint8_t *frame, enum cl_kind kind)
{
    frame[0] = CL_VERSION;
    frame[1] = (uint8_t)kind;
    frame[2] = 0;
    cl_store(frame + 3, c->boot);
    cl_store(frame + 7, cl_newest(c));
}

static size_t put_reject(uint8_t to[REJECT_BODY], const char *code, const char *text)
{
    struct cl_writer body;
    cl_writer_start(&body, to, REJECT_BODY);
    cl_put_array(&body, 2);
    cl_put_text(&body, code, 16);
    cl_put_text(&body, text, 40);
    return body.size;
}

void cl_reject(struct cardlink *c, const char *code, const char *text)
{
    uint8_t frame[CL_HEADER + REJECT_BODY + CL_CRC];
    cl_put_header(c, frame, CL_REJECT);
    (void)cl_queue(&c->output[CARDLINK_MAIN], frame, CL_HEADER + put_reject(frame + CL_HEADER, code, text));
}

void cl_reject_sealed(struct cardlink *c)
{
    uint8_t body[REJECT_BODY];
    size_t size = put_reject(body, "message", "a body was not understood");
    cl_send(c, CL_SEALED_REJECT, c->boot, cl_newest(c), body, size);
}

static void nonce_of(uint32_t counter, uint8_t nonce[12])
{
    (void)memset(nonce, 0, 12);
    cl_store(nonce + 8, counter);
}

/* Seals with a new counter and queues. If the output is full the frame is dropped: the host asks again for reports and
 * answers, and a status follows within a second. */
static void send_by(struct cardlink *c, enum cardlink_endpoint endpoint, enum cl_kind kind, uint32_t boot,
                    uint32_t number, const uint8_t *body, size_t size)
{
    struct cl_link *link = &c->link;
    struct cl_session *s = &link->session;
    uint8_t frame[SEALED + BODY_MOST + CL_CRC], nonce[12], *text = frame + CL_HEADER + CL_COUNTER;
    if (!link->active || s->sent == UINT32_MAX || size > BODY_MOST)
        return;
    s->sent++;
    cl_put_header(c, frame, kind);
    frame[2] = (uint8_t)endpoint;
    cl_store(frame + 3, boot);
    cl_store(frame + 7, number);
    cl_store(frame + CL_HEADER, s->sent);
    (void)memcpy(text, body, size);
    nonce_of(s->sent, nonce);
    cl_seal(s->device_key, nonce, frame, CL_HEADER + CL_COUNTER, text, size, text + size);
    if (!cl_queue(&c->output[endpoint], frame, SEALED + size))
        return;
    if (link->marked == 0 || c->now - link->marks[(link->marked - 1) % CL_MARKS].at >= MARK_MS) {
        link->marks[link->marked % CL_MARKS].counter = s->sent;
        link->marks[link->marked % CL_MARKS].at = c->now;
        link->marked++;
    }
}

void cl_send(struct cardlink *c, enum cl_kind kind, uint32_t boot, uint32_t number, const uint8_t *body, size_t size)
{
    send_by(c, CARDLINK_MAIN, kind, boot, number, body, size);
}

/* "USB": the status that answers resume goes out on the main endpoint. */
void cl_send_status(struct cardlink *c, bool answers_resume)
{
    uint8_t bytes[STATUS_BODY];
    struct cl_writer body;
    cl_writer_start(&body, bytes, sizeof bytes);
    cl_put_status(c, &body);
    send_by(c, c->config->second_endpoint && !answers_resume ? CARDLINK_INTERRUPT : CARDLINK_MAIN, CL_STATUS, c->boot,
            cl_newest(c), bytes, body.size);
    c->link.status_at = c->now;
}

static void discard_output(struct cardlink *c)
{
    cl_discard(&c->output[CARDLINK_MAIN]);
    cl_discard(&c->output[CARDLINK_INTERRUPT]);
}

static void tell_linked(const struct cardlink *c, bool linked)
{
    if (c->config->linked != NULL)
        c->config->linked(c->config->context, linked);
}

/* "Host lost"; a candidate keeps its own timeout. */
static void lose_link(struct cardlink *c)
{
    cl_wipe(&c->link, sizeof c->link);
    discard_output(c);
    cl_host_lost(c);
    tell_linked(c, false);
}

/* ---- Receiving ---- */

static void heard(struct cardlink *c, uint32_t counter)
{
    const struct cl_link *link = &c->link;
    uint32_t marks = link->marked < CL_MARKS ? link->marked : (uint32_t)CL_MARKS;
    if (counter > link->session.sent)
        return;
    for (uint32_t i = 1; i <= marks; i++) {
        const struct cl_mark *mark = &link->marks[(link->marked - i) % CL_MARKS];
        if (mark->counter > counter)
            continue;
        if (c->now - mark->at <= FRESH_MS)
            c->link.fresh_at = c->now;
        return;
    }
}

static void activate(struct cardlink *c)
{
    cl_wipe(&c->link, sizeof c->link);
    c->link.session = c->candidate.session;
    cl_wipe(&c->candidate, sizeof c->candidate);
    discard_output(c);
    c->link.active = true;
    c->link.fresh_at = c->now;
    tell_linked(c, true);
}

static bool opens(const struct cl_session *s, uint8_t *frame, size_t size)
{
    uint8_t nonce[12], *text = frame + CL_HEADER + CL_COUNTER;
    nonce_of(cl_load(frame + CL_HEADER), nonce);
    return cl_open(s->host_key, nonce, frame, CL_HEADER + CL_COUNTER, text, size - SEALED, frame + size - CL_TAG);
}

static void take_forged(struct cardlink *c, bool for_candidate)
{
    if (!c->link.active && !for_candidate)
        return; /* without a key it cannot count as forged */
    c->forged++;
    if (for_candidate) {
        c->candidate.session.forged++;
        if (c->candidate.session.forged >= FORGED_MOST)
            cl_wipe(&c->candidate, sizeof c->candidate);
    }
    if (c->link.active) {
        c->link.session.forged++;
        if (c->link.session.forged >= FORGED_MOST)
            lose_link(c);
    }
}

static void take_opened(struct cardlink *c, const uint8_t *frame, size_t size)
{
    struct cl_reader body = {frame + CL_HEADER + CL_COUNTER, frame + size - CL_TAG};
    size_t more = 0;
    uint32_t boot = 0, number = 0;
    if (frame[1] == CL_RESUME) {
        if (cl_get_fields(&body, 2, &more) && cl_get_uint(&body, UINT32_MAX, &boot) &&
            cl_get_uint(&body, UINT32_MAX, &number) && cl_get_end(&body, more))
            cl_resume(c, boot, number);
        else
            cl_reject_sealed(c);
    } else if (!c->link.resumed) {
        cl_reject_sealed(c); /* "A link", device, rule 3 */
    } else if (frame[1] == CL_ACK) {
        if (cl_get_fields(&body, 1, &more) && cl_get_uint(&body, UINT32_MAX, &number) && cl_get_end(&body, more)) {
            heard(c, number);
            cl_acknowledged(c, cl_load(frame + 3), cl_load(frame + 7));
        } else {
            cl_reject_sealed(c);
        }
    } else if (frame[1] == CL_COMMAND && cl_load(frame + 3) == c->boot) {
        cl_take_command(c, &body);
#if CARDLINK_ATTEST > 0
    } else if (frame[1] == CL_CHALLENGE && c->config->program != NULL && cl_load(frame + 3) == c->boot) {
        cl_take_challenge(c, &body);
#endif
    } else {
        /* an unknown kind that opens is a sign of life: "Kinds" */
    }
}

static void take_sealed(struct cardlink *c, uint8_t *frame, size_t size)
{
    uint8_t flags = frame[2];
    bool for_candidate = frame[1] == CL_RESUME && c->candidate.proven, of_candidate;
    struct cl_session *s;
    uint32_t counter;
    if (flags > 1 || size < SEALED)
        return;
    of_candidate = for_candidate && opens(&c->candidate.session, frame, size);
    if (!of_candidate && !(c->link.active && opens(&c->link.session, frame, size))) {
        take_forged(c, for_candidate);
        return;
    }
    s = of_candidate ? &c->candidate.session : &c->link.session;
    counter = cl_load(frame + CL_HEADER);
    if (counter <= s->taken[flags]) {
        c->repeated++;
        return;
    }
    s->taken[flags] = counter;
    if (of_candidate)
        activate(c);
    c->link.life_at = c->now;
    take_opened(c, frame, size);
}

static void take(struct cardlink *c, uint8_t *frame, size_t size)
{
    switch (frame[1]) {
    case CL_IDENTITY:
    case CL_DEVICE_PROOF:
    case CL_REJECT:
    case CL_SEALED_REJECT:
    case CL_REPORT:
    case CL_STATUS:
    case CL_ANSWER:
#if CARDLINK_ATTEST > 0
    case CL_ATTESTATION:
#endif
        break; /* an echo: "Kinds" */
    case CL_HELLO:
        cl_take_hello(c, frame, size);
        break;
    case CL_HOST_PROOF:
        if (frame[0] == CL_VERSION)
            cl_take_proof(c, frame, size);
        break;
    default:
        if (frame[0] == CL_VERSION)
            take_sealed(c, frame, size);
        break;
    }
}

/* ---- From outside ---- */

static bool is_text(const char *text, size_t least, size_t most)
{
    size_t size = 0;
    if (text == NULL)
        return false;
    while (size <= most && text[size] != 0)
        size++;
    return size >= least && size <= most;
}

static bool is_good(const struct cardlink_config *config)
{
    bool on_command = (config->capabilities & (uint32_t)CARDLINK_ON_COMMAND) != 0;
    bool on_removal = (config->capabilities & (uint32_t)CARDLINK_ON_REMOVAL) != 0;
    bool good = is_text(config->maker, 1, 24) && is_text(config->model, 1, 24) && is_text(config->serial, 1, 31) &&
                is_text(config->firmware, 1, 16) && is_text(config->firmware_digest, 64, 64);
    for (size_t i = 0; good && i < 64; i++)
        good = strchr("0123456789abcdef", config->firmware_digest[i]) != NULL;
    return good && on_command != on_removal && (config->kind != CARDLINK_SHOE || on_removal) && config->key != NULL &&
           config->random != NULL && config->move != NULL &&
           ((config->capabilities & (uint32_t)CARDLINK_EXIT) == 0 || config->hold != NULL) &&
           (!config->second_endpoint || CARDLINK_INTERRUPT_OUTPUT > 0) &&
           (config->flash == NULL || (CARDLINK_FLASH != 0 && config->flash->size >= CARDLINK_FLASH_LEAST));
}

bool cardlink_start(struct cardlink *c, const struct cardlink_config *config, const char *cause, uint32_t now)
{
    if (!is_good(config))
        return false;
    cl_wipe(c, sizeof *c);
    c->config = config;
    c->now = now;
    c->output[CARDLINK_MAIN].bytes = c->output_bytes;
    c->output[CARDLINK_MAIN].room = CARDLINK_OUTPUT;
#if CARDLINK_INTERRUPT_OUTPUT > 0
    c->output[CARDLINK_INTERRUPT].bytes = c->interrupt_bytes;
    c->output[CARDLINK_INTERRUPT].room = CARDLINK_INTERRUPT_OUTPUT;
#endif
    c->start = config->start;
    c->sure_of_start = config->start > 0;
#if CARDLINK_FLASH
    if (config->flash != NULL)
        cl_flash_load(c);
#endif
    c->boot = cl_draw_id(c, "boot");
    cl_add_boot(c, c->boot);
#if CARDLINK_FLASH
    if (config->flash != NULL)
        cl_flash_start(c);
#endif
    if (cl_can(c, CARDLINK_EXIT)) { /* "Host lost" */
        c->deck.exit_held = true;
        config->hold(config->context, true);
    }
    cl_report_started(c, cause);
    return true;
}

/* A time that lies before the last one is ignored. */
void cl_time(struct cardlink *c, uint32_t now)
{
    uint32_t passed = now - c->now;
    if (passed <= (uint32_t)INT32_MAX) {
        c->uptime += passed;
        c->now = now;
    }
}

void cardlink_receive(struct cardlink *c, uint32_t now, const uint8_t *bytes, size_t size)
{
    cl_time(c, now);
    for (size_t i = 0; i < size; i++) {
        size_t frame_size = cl_receive_byte(&c->line, bytes[i]);
        if (frame_size > 0)
            take(c, c->line.frame, frame_size);
    }
}

void cardlink_tick(struct cardlink *c, uint32_t now)
{
    cl_time(c, now);
    if (c->candidate.present && c->now - c->candidate.fitted_at >= CANDIDATE_MS)
        cl_wipe(&c->candidate, sizeof c->candidate);
    if (!c->link.active)
        return;
    if (c->now - c->link.life_at >= LIFE_MS || c->now - c->link.fresh_at >= FRESH_MS) {
        lose_link(c);
        return;
    }
    if (c->link.resumed && c->now - c->link.status_at >= STATUS_MS)
        cl_send_status(c, false);
#if CARDLINK_ATTEST > 0
    cl_attest_tick(c);
#endif
    cl_reports_tick(c);
}

size_t cardlink_output(const struct cardlink *c, enum cardlink_endpoint endpoint, const uint8_t **bytes)
{
    const struct cl_output *out = &c->output[endpoint];
    *bytes = out->bytes + out->begin;
    return (size_t)out->end - out->begin;
}

void cardlink_sent(struct cardlink *c, uint32_t now, enum cardlink_endpoint endpoint, size_t size)
{
    struct cl_output *out = &c->output[endpoint];
    size_t waiting = (size_t)out->end - out->begin;
    size_t taken = size < waiting ? size : waiting;
    cl_time(c, now);
    out->begin = (uint16_t)(out->begin + taken);
    out->sent += (uint32_t)taken;
    if (out->begin == out->end) {
        out->begin = 0;
        out->end = 0;
    }
    cl_reports_tick(c);
}
