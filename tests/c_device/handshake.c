/* Hello, identity, proofs, and values derived from the key: "A link", "Proofs", "The device's nonce". */
#include "cardlink_device.h"

#include <string.h>

static const char NAME[] = "cardlink1";
static const char *const SHUFFLER[] = {"card_recognition", "orientation_sensor", "double_draw_sensor", "tray_sensor",
                                       "exit_hold", "unloads_stub", "dispenses_on_command"};
static const char *const SHOE[] = {"card_recognition", "orientation_sensor", "double_draw_sensor", "exit_hold",
                                   "dispenses_on_removal"};

/* ---- Keys, proofs, nonces ---- */

static void derive(const uint8_t key[KEY], const char *role, const uint8_t *host_nonce, const uint8_t *device_nonce,
                   const uint8_t *hello, size_t hello_size, const uint8_t *identity, size_t identity_size,
                   uint8_t result[32])
{
    struct hmac mac;
    hmac_start(&mac, key);
    hmac_part(&mac, NAME, strlen(NAME));
    hmac_part(&mac, role, strlen(role));
    hmac_part(&mac, host_nonce, NONCE);
    hmac_part(&mac, device_nonce, NONCE);
    hmac_part(&mac, hello, hello_size);
    hmac_part(&mac, identity, identity_size);
    hmac_end(&mac, result);
}

/* Compute everything that depends on the hello on receipt, so that it need not be kept. */
void frame_keys(const uint8_t key[KEY], const uint8_t *host_nonce, const uint8_t *device_nonce, const uint8_t *hello,
                size_t hello_size, const uint8_t *identity, size_t identity_size, struct candidate *to)
{
    const struct { const char *role; uint8_t *result; } all[] = {
        {"host", to->host_proof}, {"device", to->device_proof},
        {"host frames", to->session.host_key}, {"device frames", to->session.device_key},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        derive(key, all[i].role, host_nonce, device_nonce, hello, hello_size, identity, identity_size, all[i].result);
}

/* "The device's nonce" */
void make_nonce(const uint8_t key[KEY], const uint8_t *random, size_t random_size, uint32_t start, uint32_t draw,
                const uint8_t *hello, size_t hello_size, uint8_t nonce[NONCE])
{
    struct hmac mac;
    uint8_t number[4], result[32];
    hmac_start(&mac, key);
    hmac_part(&mac, NAME, strlen(NAME));
    hmac_part(&mac, "device nonce", 12);
    hmac_part(&mac, random, random_size);
    store_le(number, start);
    hmac_part(&mac, number, sizeof number);
    store_le(number, draw);
    hmac_part(&mac, number, sizeof number);
    hmac_part(&mac, hello, hello_size);
    hmac_end(&mac, result);
    memcpy(nonce, result, NONCE);
}

/* Built like the nonce, so that boots and shuffles differ where the random source fails. */
uint32_t draw_id(struct device *d, const char *role)
{
    uint8_t random[16], number[4], result[32];
    uint32_t id;
    do {
        struct hmac mac;
        size_t size = d->config.random(d->config.context, random, sizeof random) ? sizeof random : 0;
        hmac_start(&mac, d->config.key);
        hmac_part(&mac, NAME, strlen(NAME));
        hmac_part(&mac, role, strlen(role));
        hmac_part(&mac, random, size);
        store_le(number, d->config.start);
        hmac_part(&mac, number, sizeof number);
        store_le(number, ++d->ids_drawn);
        hmac_part(&mac, number, sizeof number);
        hmac_end(&mac, result);
        id = load_le(result);
    } while (id == 0);
    return id;
}

/* ---- Hello and proof ---- */

static void make_identity(struct device *d, const uint8_t nonce[NONCE])
{
    struct candidate *c = &d->candidate;
    struct writer body = {c->identity + HEADER, FRAME - HEADER - CRC, 0, false};
    const char *const *words = d->config.shoe ? SHOE : SHUFFLER;
    size_t count = d->config.shoe ? sizeof SHOE / sizeof *SHOE : sizeof SHUFFLER / sizeof *SHUFFLER;
    put_header(d, c->identity, IDENTITY);
    put_array(&body, 14);
    put_uint(&body, VERSION);
    put_text(&body, d->config.shoe ? "shoe" : "shuffler");
    put_text(&body, d->config.shoe ? "singles" : "sets");
    put_text(&body, "cardshoe");
    put_text(&body, "C device");
    put_text(&body, d->config.serial);
    put_text(&body, "1.0");
    put_text(&body, d->config.digest);
    put_array(&body, count);
    for (size_t i = 0; i < count; i++)
        put_text(&body, words[i]);
    put_uint(&body, REPORTS);
    put_bool(&body, true);
    put_uint(&body, 52);
    put_bin(&body, nonce, NONCE);
    put_array(&body, 1); /* reports are not retained, so the running boot is the only one: "Kept" */
    put_array(&body, 3);
    put_uint(&body, d->boot);
    put_uint(&body, reports_oldest(d));
    put_uint(&body, d->newest);
    c->identity_size = HEADER + body.size;
}

void take_hello(struct device *d, const uint8_t *frame, size_t size)
{
    struct candidate *c = &d->candidate;
    struct reader body = {frame + HEADER, frame + size};
    struct sha256 sum;
    uint8_t digest[32], nonce[NONCE], random[16];
    const uint8_t *host_nonce = NULL;
    size_t fields = 0, nonce_size = 0, random_size;
    uint64_t version = 0;
    if (frame[0] == VERSION && !(get_array(&body, &fields) && fields > 0 && get_uint(&body, UINT8_MAX, &version))) {
        reject(d, "message", "the hello was not understood");
        return;
    }
    if (frame[0] != VERSION || version != VERSION) {
        reject(d, "version", "this device speaks version 1");
        return;
    }
    if (fields < 2 || !get_bin(&body, &host_nonce, &nonce_size) || nonce_size != NONCE || !skip(&body, fields - 2) ||
        body.at != body.end) {
        reject(d, "message", "the hello was not understood");
        return;
    }
    sha256_start(&sum);
    sha256_add(&sum, frame, size);
    sha256_end(&sum, digest);
    if (d->link.active && equal(digest, d->link.session.hello, sizeof digest))
        return;
    if (!c->present || !equal(digest, c->session.hello, sizeof digest)) {
        if (d->draws == UINT32_MAX)
            return; /* another nonce would repeat `draw` */
        wipe(c, sizeof *c);
        random_size = d->config.random(d->config.context, random, sizeof random) ? sizeof random : 0;
        make_nonce(d->config.key, random, random_size, d->config.start, ++d->draws, frame, size, nonce);
        make_identity(d, nonce);
        frame_keys(d->config.key, host_nonce, nonce, frame, size, c->identity, c->identity_size, c);
        memcpy(c->session.hello, digest, sizeof digest);
        c->present = true;
    }
    c->fitted_at = d->now;
    queue_frame(&d->output, c->identity, c->identity_size);
}

void take_proof(struct device *d, const uint8_t *frame, size_t size)
{
    struct candidate *c = &d->candidate;
    struct reader body = {frame + HEADER, frame + size};
    struct writer answer;
    uint8_t device_proof[FRAME];
    const uint8_t *proof = NULL;
    size_t fields = 0, proof_size = 0;
    uint64_t type = 0;
    if (!get_array(&body, &fields) || fields < 2 || !get_uint(&body, UINT8_MAX, &type) ||
        !get_bin(&body, &proof, &proof_size) || !skip(&body, fields - 2) || body.at != body.end ||
        (type == 1 && proof_size != sizeof c->host_proof)) {
        reject(d, "message", "the host proof was not understood");
        return;
    }
    if (!c->present)
        return;
    if (type != 1 || !equal(proof, c->host_proof, sizeof c->host_proof)) {
        reject(d, "proof", "the host's proof does not hold");
        return;
    }
    c->proven = true;
    c->fitted_at = d->now;
    put_header(d, device_proof, DEVICE_PROOF);
    answer = (struct writer){device_proof + HEADER, FRAME - HEADER - CRC, 0, false};
    put_array(&answer, 2);
    put_uint(&answer, 1);
    put_bin(&answer, c->device_proof, sizeof c->device_proof);
    queue_frame(&d->output, device_proof, HEADER + answer.size);
}
