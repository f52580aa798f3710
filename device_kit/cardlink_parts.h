/* What the parts of the kit use from each other. Firmware includes cardlink.h only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * crypto.c     hashes and the cipher
 * wire.c       frames and MessagePack
 * handshake.c  hello, identity, proofs, and the keys derived from them
 * link.c       sealed frames, signs of life; the functions that firmware calls for bytes and time
 * commands.c   orders, answers, the exit
 * mechanism.c  what the mechanism saw, as reports and status
 * reports.c    reports kept, the window, acknowledgements
 * attest.c     which program runs
 * flash.c      reports and the counter of starts in flash memory
 */
#ifndef CARDLINK_PARTS_H
#define CARDLINK_PARTS_H

#include "cardlink.h"

enum { CL_VERSION = 1 };

enum cl_kind {
    CL_HELLO = 0x01, CL_IDENTITY = 0x02, CL_HOST_PROOF = 0x03, CL_DEVICE_PROOF = 0x04, CL_RESUME = 0x05,
    CL_REJECT = 0x06, CL_SEALED_REJECT = 0x07, CL_ACK = 0x10, CL_REPORT = 0x20, CL_STATUS = 0x21, CL_COMMAND = 0x30,
    CL_ANSWER = 0x31, CL_CHALLENGE = 0x40, CL_ATTESTATION = 0x41
};

/* ---- crypto.c ---- */

uint32_t cl_load(const uint8_t *from);
void cl_store(uint8_t *to, uint32_t value);
void cl_wipe(void *memory, size_t size);
bool cl_equal(const uint8_t *one, const uint8_t *other, size_t size);
void cl_sha256_start(struct cl_sha256 *sum);
void cl_sha256_add(struct cl_sha256 *sum, const void *bytes, size_t size);
void cl_sha256_end(struct cl_sha256 *sum, uint8_t digest[32]);
void cl_hmac_start(struct cl_hmac *mac, const uint8_t key[CL_KEY]);
void cl_hmac_add(struct cl_hmac *mac, const void *bytes, size_t size);
void cl_hmac_part(struct cl_hmac *mac, const void *bytes, size_t size);
void cl_hmac_end(struct cl_hmac *mac, uint8_t tag[32]);
void cl_seal(const uint8_t key[CL_KEY], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
             size_t size, uint8_t tag[CL_TAG]);
bool cl_open(const uint8_t key[CL_KEY], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
             size_t size, const uint8_t tag[CL_TAG]);

/* ---- wire.c ---- */

struct cl_writer {
    uint8_t *bytes;
    size_t room, size;
    bool failed;
};
struct cl_reader {
    const uint8_t *at, *end;
};

uint32_t cl_crc32(const uint8_t *bytes, size_t size, uint32_t before); /* `before`: 0, or the CRC of what came before */
size_t cl_receive_byte(struct cl_receiver *line, uint8_t byte);
bool cl_queue(struct cl_output *out, uint8_t *frame, size_t size);
void cl_discard(struct cl_output *out);
void cl_writer_start(struct cl_writer *to, uint8_t *bytes, size_t room);
void cl_put_uint(struct cl_writer *to, uint32_t value);
void cl_put_u64(struct cl_writer *to, uint64_t value);
void cl_put_array(struct cl_writer *to, size_t elements);
void cl_put_text(struct cl_writer *to, const char *text, size_t most);
void cl_put_words(struct cl_writer *to, const char *one, const char *other);
void cl_put_bin(struct cl_writer *to, const uint8_t *bytes, size_t size);
void cl_put_bool(struct cl_writer *to, bool value);
void cl_put_nil(struct cl_writer *to);
bool cl_get_uint(struct cl_reader *from, uint32_t most, uint32_t *value);
bool cl_get_u64(struct cl_reader *from, uint64_t *value);
bool cl_get_fields(struct cl_reader *from, size_t least, size_t *more); /* an array, and how many follow the least */
bool cl_get_end(struct cl_reader *from, size_t more); /* so many unknown values, then nothing */
bool cl_get_array(struct cl_reader *from, size_t *elements);
bool cl_get_bin(struct cl_reader *from, const uint8_t **bytes, size_t *size);
bool cl_get_text(struct cl_reader *from, uint32_t most_characters, const uint8_t **bytes, size_t *size);
bool cl_skip(struct cl_reader *from, size_t values);

/* ---- handshake.c ---- */

void cl_take_hello(struct cardlink *c, const uint8_t *frame, size_t size);
void cl_take_proof(struct cardlink *c, const uint8_t *frame, size_t size);
uint32_t cl_draw_id(struct cardlink *c, const char *role); /* not 0, and new */
void cl_frame_keys(const uint8_t key[CL_KEY], const uint8_t *host_nonce, const uint8_t *device_nonce,
                   const uint8_t *hello, size_t hello_size, const uint8_t *identity, size_t identity_size,
                   struct cl_candidate *to);
void cl_make_nonce(const uint8_t key[CL_KEY], const uint8_t *random, size_t random_size, uint32_t start, uint32_t draw,
                   const uint8_t *hello, size_t hello_size, uint8_t nonce[CL_NONCE]);

/* ---- link.c ---- */

void cl_put_header(const struct cardlink *c, uint8_t *frame, enum cl_kind kind);
void cl_reject(struct cardlink *c, const char *code, const char *text); /* in the clear */
void cl_reject_sealed(struct cardlink *c);
void cl_send(struct cardlink *c, enum cl_kind kind, uint32_t boot, uint32_t number, const uint8_t *body, size_t size);
void cl_send_status(struct cardlink *c, bool answers_resume);
void cl_time(struct cardlink *c, uint32_t now);

/* ---- commands.c ---- */

void cl_take_command(struct cardlink *c, struct cl_reader *body);
void cl_host_lost(struct cardlink *c);
void cl_form_next(struct cardlink *c); /* where sets are formed on removal */

/* ---- mechanism.c ---- */

void cl_put_status(const struct cardlink *c, struct cl_writer *to);
void cl_report_started(struct cardlink *c, const char *cause);
void cl_report_shuffle_started(struct cardlink *c);
bool cl_is_jammed(const struct cardlink *c);
bool cl_can(const struct cardlink *c, enum cardlink_capability capability);

/* ---- reports.c ---- */

enum { CL_REPORTS_LOST = 19 };

struct cl_report *cl_report_at(struct cardlink *c, uint32_t place);
uint32_t cl_newest(const struct cardlink *c); /* of the running boot */
uint32_t cl_oldest(struct cardlink *c, uint32_t boot); /* as `oldest` of "Kept" */
void cl_report_body(const struct cardlink *c, struct cl_writer *to, uint8_t bytes[CARDLINK_REPORT_BODY], uint8_t tag,
                    size_t fields);
void cl_report_make(struct cardlink *c, const struct cl_writer *body);
void cl_add_boot(struct cardlink *c, uint32_t boot);
#if CARDLINK_FLASH
void cl_restore(struct cardlink *c, uint32_t boot, uint32_t number, uint32_t first, const uint8_t *body, size_t size);
#endif
bool cl_cover(struct cardlink *c, uint32_t boot, uint32_t number); /* "Device", rule 4; false if it covers nothing */
void cl_acknowledged(struct cardlink *c, uint32_t boot, uint32_t number);
void cl_resume(struct cardlink *c, uint32_t boot, uint32_t number);
void cl_reports_tick(struct cardlink *c);

/* ---- attest.c ---- */

#if CARDLINK_ATTEST > 0
void cl_take_challenge(struct cardlink *c, struct cl_reader *body);
void cl_attest_tick(struct cardlink *c);
#endif

/* ---- flash.c ---- */

#if CARDLINK_FLASH
void cl_flash_load(struct cardlink *c);  /* what is kept, and the last counter of starts */
void cl_flash_start(struct cardlink *c); /* records the running boot */
void cl_flash_report(struct cardlink *c, const struct cl_report *report);
void cl_flash_ack(struct cardlink *c, uint32_t boot, uint32_t number);
#endif

#endif
