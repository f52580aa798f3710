/* Reports and the counter of starts in flash memory, which survive a loss of power at any moment: "Kept", "The device's
 * nonce".  SPDX-License-Identifier: Apache-2.0
 *
 * An area is a list of records. When it is full, all that is still kept is written to the other area, which was erased
 * before; that area counts only when its last record, COMMIT, is there. A record: its kind, the size of its payload, two
 * zeros, the CRC-32 of these and the payload, the payload, and zeros to the end of the last unit. */
#include "cardlink_parts.h"

#include <string.h>

#if CARDLINK_FLASH

enum { BLANK = 0xff, START = 1, BOOT = 2, REPORT = 3, ACK = 4, COMMIT = 5 };
enum { UNIT = CARDLINK_FLASH_UNIT, HEAD = 8, PAYLOAD_MOST = 12 + CARDLINK_REPORT_BODY };
enum { RECORD_MOST = CARDLINK_FLASH_RECORD };

struct found { /* what an area holds */
    bool committed, damaged;
    uint32_t sequence, start, end;
};

static uint32_t in_units(uint32_t size)
{
    return (size + UNIT - 1) / UNIT * UNIT;
}

static uint32_t crc_of(const uint8_t *record, uint32_t size)
{
    return cl_crc32(record + HEAD, size, cl_crc32(record, 4, 0));
}

/* ---- Reading ---- */

static bool read_at(struct cardlink *c, unsigned area, uint32_t at, uint8_t *bytes, size_t size)
{
    return c->config->flash->read(c->config->context, area, at, bytes, size);
}

/* Returns the size of the payload of the record there, or -1. */
static int32_t read_record(struct cardlink *c, unsigned area, uint32_t at, uint8_t record[RECORD_MOST])
{
    uint32_t size = record[1]; /* the caller has read the head */
    if (record[0] < START || record[0] > COMMIT || size > PAYLOAD_MOST ||
        at + in_units(HEAD + size) > c->config->flash->size || !read_at(c, area, at + HEAD, record + HEAD, size) || crc_of(record, size) != cl_load(record + 4))
        return -1;
    return (int32_t)size;
}

static bool is_blank(const uint8_t *bytes)
{
    bool blank = true;
    for (uint32_t i = 0; i < HEAD; i++)
        blank = blank && bytes[i] == BLANK;
    return blank;
}

static void apply(struct cardlink *c, const uint8_t *record, uint32_t size)
{
    const uint8_t *payload = record + HEAD;
    if (record[0] == BOOT && size == 8) {
        cl_add_boot(c, cl_load(payload));
        c->boots[c->boot_count - 1].newest = cl_load(payload + 4);
    } else if (record[0] == REPORT && size > 12) {
        cl_restore(c, cl_load(payload), cl_load(payload + 4), cl_load(payload + 8), payload + 12, size - 12);
    } else if (record[0] == ACK && size == 8) {
        (void)cl_cover(c, cl_load(payload), cl_load(payload + 4));
    } else {
        /* START and COMMIT are found by `scan` */
    }
}

/* Reads an area from its beginning. What is not a record is skipped unit by unit. */
static void scan(struct cardlink *c, unsigned area, bool applies, struct found *found)
{
    uint8_t record[RECORD_MOST];
    uint32_t at = 0;
    (void)memset(found, 0, sizeof *found);
    while (at + UNIT <= c->config->flash->size) {
        int32_t size = -1;
        bool was_read = read_at(c, area, at, record, HEAD);
        if (was_read && is_blank(record)) {
            at += UNIT;
            continue;
        }
        if (was_read)
            size = read_record(c, area, at, record);
        if (size < 0) {
            found->damaged = true;
            at += UNIT;
        } else {
            at += in_units((uint32_t)(HEAD + size));
            if (record[0] == START && cl_load(record + HEAD) > found->start)
                found->start = cl_load(record + HEAD);
            if (record[0] == COMMIT) {
                found->committed = true;
                found->sequence = cl_load(record + HEAD);
            }
            if (applies)
                apply(c, record, (uint32_t)size);
        }
        found->end = at;
    }
}

/* The counter of starts is the highest in either area. Without any, an area that is not blank may have had one: then
 * only a random number makes the nonce new. */
void cl_flash_load(struct cardlink *c)
{
    struct cl_flash *flash = &c->flash;
    struct found areas[2];
    uint32_t start;
    scan(c, 0, false, &areas[0]);
    scan(c, 1, false, &areas[1]);
    flash->area = (uint8_t)(areas[1].committed && (!areas[0].committed || areas[1].sequence > areas[0].sequence));
    start = areas[0].start > areas[1].start ? areas[0].start : areas[1].start;
    c->start = start + 1;
    c->sure_of_start = start < UINT32_MAX && (start > 0 || (!areas[0].damaged && !areas[1].damaged));
    flash->sequence = areas[flash->area].sequence;
    if (areas[flash->area].committed)
        scan(c, flash->area, true, &areas[flash->area]);
    flash->end = areas[flash->area].end;
    flash->works = areas[flash->area].committed && !areas[flash->area].damaged;
}

/* ---- Writing ---- */

static bool put_record(struct cardlink *c, unsigned area, uint32_t *end, uint8_t kind, const uint8_t *payload,
                       uint32_t size)
{
    const struct cardlink_flash *flash = c->config->flash;
    uint8_t record[RECORD_MOST], check[UNIT];
    uint32_t whole = in_units(HEAD + size), at = *end;
    if (at + whole > flash->size)
        return false;
    (void)memset(record, 0, sizeof record);
    record[0] = kind;
    record[1] = (uint8_t)size;
    (void)memcpy(record + HEAD, payload, size);
    cl_store(record + 4, crc_of(record, size));
    *end += whole;
    if (!flash->append(c->config->context, area, at, record, whole))
        return false;
    for (uint32_t i = 0; i < whole; i += UNIT)
        if (!read_at(c, area, at + i, check, UNIT) || memcmp(check, record + i, UNIT) != 0)
            return false;
    return true;
}

static bool put_pair(struct cardlink *c, unsigned area, uint32_t *end, uint8_t kind, uint32_t one, uint32_t two)
{
    uint8_t payload[8];
    cl_store(payload, one);
    cl_store(payload + 4, two);
    return put_record(c, area, end, kind, payload, sizeof payload);
}

static bool put_report(struct cardlink *c, unsigned area, uint32_t *end, const struct cl_report *report)
{
    uint8_t payload[PAYLOAD_MOST];
    cl_store(payload, report->boot);
    cl_store(payload + 4, report->number);
    cl_store(payload + 8, report->first);
    (void)memcpy(payload + 12, report->body, report->size);
    return put_record(c, area, end, REPORT, payload, 12u + report->size);
}

/* Writes all that is kept to the other area. */
static void write_anew(struct cardlink *c)
{
    struct cl_flash *flash = &c->flash;
    unsigned area = 1u - flash->area;
    uint32_t end = 0;
    bool good = c->config->flash->erase(c->config->context, area) && put_pair(c, area, &end, START, c->start, 0);
    for (uint32_t i = 0; good && i < c->boot_count; i++)
        good = put_pair(c, area, &end, BOOT, c->boots[i].boot, cl_oldest(c, c->boots[i].boot) - 1);
    for (uint32_t i = 0; good && i < c->kept; i++)
        good = put_report(c, area, &end, cl_report_at(c, i));
    good = good && put_pair(c, area, &end, COMMIT, flash->sequence + 1, 0);
    flash->works = good;
    if (good) {
        flash->area = (uint8_t)area;
        flash->sequence++;
        flash->end = end;
    }
}

void cl_flash_start(struct cardlink *c)
{
    struct cl_flash *flash = &c->flash;
    uint8_t random[CL_NONCE];
    bool good;
    if (!c->sure_of_start && !c->config->random(c->config->context, random, sizeof random))
        return; /* nothing is written, so that this device links only when a technician has erased both areas */
    good = flash->works && put_pair(c, flash->area, &flash->end, START, c->start, 0) &&
                put_pair(c, flash->area, &flash->end, BOOT, c->boot, 0);
    if (!good)
        write_anew(c);
    c->sure_of_start = c->sure_of_start && flash->works;
}

void cl_flash_report(struct cardlink *c, const struct cl_report *report)
{
    if (c->flash.works && !put_report(c, c->flash.area, &c->flash.end, report))
        write_anew(c);
}

void cl_flash_ack(struct cardlink *c, uint32_t boot, uint32_t number)
{
    if (c->flash.works && !put_pair(c, c->flash.area, &c->flash.end, ACK, boot, number))
        write_anew(c);
}

#else
typedef int cl_no_flash; /* ISO C does not allow an empty file */
#endif
