/* Which program runs: "Attestation".
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#if CARDLINK_ATTEST > 0

#include <string.h>

enum { PIECE = 64 };

static void send_attestation(struct cardlink *c)
{
    const struct cl_attestation *a = &c->link.attestation;
    uint8_t bytes[8 + 2 * 32];
    struct cl_writer body;
    cl_writer_start(&body, bytes, sizeof bytes);
    cl_put_array(&body, 2);
    cl_put_bin(&body, a->salt, sizeof a->salt);
    cl_put_bin(&body, a->digest, a->readable ? sizeof a->digest : 0);
    cl_send(c, CL_ATTESTATION, c->boot, cl_newest(c), bytes, body.size);
}

void cl_take_challenge(struct cardlink *c, struct cl_reader *body)
{
    struct cl_attestation *a = &c->link.attestation;
    const uint8_t *salt = NULL;
    size_t more = 0, salt_size = 0;
    uint32_t from = 0, length = 0;
    if (!cl_get_fields(body, 3, &more) || !cl_get_bin(body, &salt, &salt_size) || salt_size != sizeof a->salt ||
        !cl_get_uint(body, UINT32_MAX, &from) || !cl_get_uint(body, UINT32_MAX, &length) || !cl_get_end(body, more)) {
        cl_reject_sealed(c);
        return;
    }
    if (a->state != CL_NOT_ASKED && cl_equal(salt, a->salt, sizeof a->salt) && from == a->from &&
        length == a->length) {
        if (a->state == CL_ATTESTED)
            send_attestation(c);
        return;
    }
    cl_wipe(a, sizeof *a);
    a->state = CL_ATTESTING;
    a->readable = length <= UINT32_MAX - from;
    (void)memcpy(a->salt, salt, sizeof a->salt);
    a->from = from;
    a->length = length;
    cl_hmac_start(&a->mac, a->salt);
}

/* Hashes a part at each call, so that statuses and reports are not delayed. */
void cl_attest_tick(struct cardlink *c)
{
    struct cl_attestation *a = &c->link.attestation;
    uint8_t piece[PIECE];
    uint32_t most = CARDLINK_ATTEST;
    if (a->state != CL_ATTESTING)
        return;
    while (a->readable && most > 0 && a->done < a->length) {
        uint32_t left = a->length - a->done, size = left < PIECE ? left : (uint32_t)PIECE;
        size = size < most ? size : most;
        a->readable = c->config->program(c->config->context, a->from + a->done, piece, size);
        if (a->readable)
            cl_hmac_add(&a->mac, piece, size);
        a->done += size;
        most -= size;
    }
    if (a->readable && a->done < a->length)
        return;
    a->state = CL_ATTESTED;
    cl_hmac_end(&a->mac, a->digest);
    send_attestation(c);
}

#endif
