/* Hello, identity, proofs, and values derived from the key: "A link", "Proofs", "The device's nonce".
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

static const char NAME[] = "cardlink1";
static const char *const CAPABILITY[] = {
    "card_recognition", "orientation_sensor", "double_draw_sensor", "tray_sensor", "exit_hold", "unloads_stub",
    "stages", "dispenses_on_command", "dispenses_on_removal"}; /* in the order of enum cardlink_capability */
enum { CAPABILITIES = sizeof CAPABILITY / sizeof *CAPABILITY };

/* ---- Keys, proofs, nonces ---- */

static void begin(struct cl_hmac *mac, const uint8_t key[CL_KEY], const char *role)
{
    cl_hmac_start(mac, key);
    cl_hmac_part(mac, NAME, strlen(NAME));
    cl_hmac_part(mac, role, strlen(role));
}

static void add_number(struct cl_hmac *mac, uint32_t value)
{
    uint8_t number[4];
    cl_store(number, value);
    cl_hmac_part(mac, number, sizeof number);
}

/* Compute everything that depends on the hello on receipt, so that it need not be kept. */
void cl_frame_keys(const uint8_t key[CL_KEY], const uint8_t *host_nonce, const uint8_t *device_nonce,
                   const uint8_t *hello, size_t hello_size, const uint8_t *identity, size_t identity_size,
                   struct cl_candidate *to)
{
    static const char *const ROLE[] = {"host", "device", "host frames", "device frames"};
    uint8_t *const result[] = {to->host_proof, to->device_proof, to->session.host_key, to->session.device_key};
    for (size_t i = 0; i < sizeof ROLE / sizeof *ROLE; i++) {
        struct cl_hmac mac;
        begin(&mac, key, ROLE[i]);
        cl_hmac_part(&mac, host_nonce, CL_NONCE);
        cl_hmac_part(&mac, device_nonce, CL_NONCE);
        cl_hmac_part(&mac, hello, hello_size);
        cl_hmac_part(&mac, identity, identity_size);
        cl_hmac_end(&mac, result[i]);
    }
}

/* "The device's nonce" */
void cl_make_nonce(const uint8_t key[CL_KEY], const uint8_t *random, size_t random_size, uint32_t start, uint32_t draw,
                   const uint8_t *hello, size_t hello_size, uint8_t nonce[CL_NONCE])
{
    struct cl_hmac mac;
    uint8_t result[32];
    begin(&mac, key, "device nonce");
    cl_hmac_part(&mac, random, random_size);
    add_number(&mac, start);
    add_number(&mac, draw);
    cl_hmac_part(&mac, hello, hello_size);
    cl_hmac_end(&mac, result);
    (void)memcpy(nonce, result, CL_NONCE);
}

static size_t draw_random(const struct cardlink *c, uint8_t random[CL_NONCE])
{
    return c->config->random(c->config->context, random, CL_NONCE) ? CL_NONCE : 0;
}

/* Built like the nonce, so that boots and shuffles differ if the random source fails. */
uint32_t cl_draw_id(struct cardlink *c, const char *role)
{
    uint32_t id = 0;
    for (int i = 0; id == 0 && i < 8; i++) { /* the chance that all 8 are 0 is 2^-256 */
        struct cl_hmac mac;
        uint8_t random[CL_NONCE], result[32];
        c->ids_drawn++;
        begin(&mac, c->config->key, role);
        cl_hmac_part(&mac, random, draw_random(c, random));
        add_number(&mac, c->start);
        add_number(&mac, c->ids_drawn);
        cl_hmac_end(&mac, result);
        id = cl_load(result);
    }
    return id;
}

/* ---- Hello and proof ---- */

static void put_capabilities(const struct cardlink *c, struct cl_writer *body)
{
    size_t count = c->config->flash != NULL ? 1 : 0;
#if CARDLINK_ATTEST > 0
    count += c->config->program != NULL ? 1u : 0u;
#endif
    for (unsigned i = 0; i < CAPABILITIES; i++)
        count += (c->config->capabilities >> i) & 1u;
    cl_put_array(body, count);
    for (unsigned i = 0; i < CAPABILITIES; i++)
        if (((c->config->capabilities >> i) & 1u) != 0)
            cl_put_text(body, CAPABILITY[i], 24);
    if (c->config->flash != NULL)
        cl_put_text(body, "retains_reports", 24);
#if CARDLINK_ATTEST > 0
    if (c->config->program != NULL)
        cl_put_text(body, "attests", 24);
#endif
}

static void make_identity(struct cardlink *c, const uint8_t nonce[CL_NONCE])
{
    static const char *const UNIT[] = {"sets", "singles", "both"};
    const struct cardlink_config *config = c->config;
    const char *const text[] = {config->kind == CARDLINK_SHOE ? "shoe" : "shuffler", UNIT[config->unit], config->maker,
                                config->model, config->serial, config->firmware, config->firmware_digest};
    struct cl_candidate *to = &c->candidate;
    struct cl_writer body;
    cl_put_header(c, to->identity, CL_IDENTITY);
    cl_writer_start(&body, to->identity + CL_HEADER, CL_FRAME - CL_HEADER - CL_CRC);
    cl_put_array(&body, 14);
    cl_put_uint(&body, CL_VERSION);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        cl_put_text(&body, text[i], 64); /* `cardlink_start` has checked the lengths */
    put_capabilities(c, &body);
    cl_put_uint(&body, CARDLINK_REPORTS);
    cl_put_bool(&body, config->simulated);
    cl_put_uint(&body, config->deck_size);
    cl_put_bin(&body, nonce, CL_NONCE);
    cl_put_array(&body, c->boot_count);
    for (uint32_t i = 0; i < c->boot_count; i++) { /* "Kept" */
        cl_put_array(&body, 3);
        cl_put_uint(&body, c->boots[i].boot);
        cl_put_uint(&body, cl_oldest(c, c->boots[i].boot));
        cl_put_uint(&body, c->boots[i].newest);
    }
    to->identity_size = CL_HEADER + body.size;
}

/* Answers a new hello. "The device's nonce": a device with neither a random number nor a counter does not link. */
static bool make_candidate(struct cardlink *c, const uint8_t *frame, size_t size, const uint8_t *host_nonce,
                           const uint8_t digest[32])
{
    struct cl_candidate *to = &c->candidate;
    uint8_t nonce[CL_NONCE], random[CL_NONCE];
    size_t random_size = draw_random(c, random);
    if (c->draws == UINT32_MAX || (random_size == 0 && !c->sure_of_start))
        return false; /* another nonce might repeat one */
    cl_wipe(to, sizeof *to);
    c->draws++;
    cl_make_nonce(c->config->key, random, random_size, c->start, c->draws, frame, size, nonce);
    make_identity(c, nonce);
    cl_frame_keys(c->config->key, host_nonce, nonce, frame, size, to->identity, to->identity_size, to);
    memcpy(to->session.hello, digest, 32);
    to->present = true;
    return true;
}

static void not_understood(struct cardlink *c)
{
    cl_reject(c, "message", "a body was not understood");
}

void cl_take_hello(struct cardlink *c, const uint8_t *frame, size_t size)
{
    struct cl_candidate *known = &c->candidate;
    struct cl_reader body = {frame + CL_HEADER, frame + size};
    struct cl_sha256 sum;
    uint8_t digest[32];
    const uint8_t *host_nonce = NULL;
    size_t more = 0, nonce_size = 0;
    uint32_t version = 0;
    if (frame[0] == CL_VERSION &&
        !(cl_get_fields(&body, 1, &more) && cl_get_uint(&body, UINT8_MAX, &version))) {
        not_understood(c);
        return;
    }
    if (frame[0] != CL_VERSION || version != CL_VERSION) {
        cl_reject(c, "version", "this device speaks version 1");
        return;
    }
    if (more < 1 || !cl_get_bin(&body, &host_nonce, &nonce_size) || nonce_size != CL_NONCE ||
        !cl_get_end(&body, more - 1)) {
        not_understood(c);
        return;
    }
    cl_sha256_start(&sum);
    cl_sha256_add(&sum, frame, size);
    cl_sha256_end(&sum, digest);
    if (c->link.active && cl_equal(digest, c->link.session.hello, sizeof digest))
        return;
    if ((!known->present || !cl_equal(digest, known->session.hello, sizeof digest)) &&
        !make_candidate(c, frame, size, host_nonce, digest))
        return;
    known->fitted_at = c->now;
    (void)cl_queue(&c->output[CARDLINK_MAIN], known->identity, known->identity_size);
}

void cl_take_proof(struct cardlink *c, const uint8_t *frame, size_t size)
{
    struct cl_candidate *known = &c->candidate;
    struct cl_reader body = {frame + CL_HEADER, frame + size};
    struct cl_writer answer;
    uint8_t device_proof[CL_HEADER + 48];
    const uint8_t *proof = NULL;
    size_t more = 0, proof_size = 0;
    uint32_t type = 0;
    if (!cl_get_fields(&body, 2, &more) || !cl_get_uint(&body, UINT8_MAX, &type) ||
        !cl_get_bin(&body, &proof, &proof_size) || !cl_get_end(&body, more) ||
        (type == 1 && proof_size != sizeof known->host_proof)) {
        not_understood(c);
        return;
    }
    if (!known->present)
        return;
    if (type != 1 || !cl_equal(proof, known->host_proof, sizeof known->host_proof)) {
        cl_reject(c, "proof", "wrong host proof");
        return;
    }
    known->proven = true;
    known->fitted_at = c->now;
    cl_put_header(c, device_proof, CL_DEVICE_PROOF);
    cl_writer_start(&answer, device_proof + CL_HEADER, sizeof device_proof - CL_HEADER - CL_CRC);
    cl_put_array(&answer, 2);
    cl_put_uint(&answer, 1);
    cl_put_bin(&answer, known->device_proof, sizeof known->device_proof);
    (void)cl_queue(&c->output[CARDLINK_MAIN], device_proof, CL_HEADER + answer.size);
}
