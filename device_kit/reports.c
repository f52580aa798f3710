/* Reports kept until they are acknowledged, and the window of those in transit: "Reports: numbers, window,
 * acknowledgement".  SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

enum { RESEND_MS = 200, RESEND_MOST_MS = 2000 };

struct cl_report *cl_report_at(struct cardlink *c, uint32_t place)
{
    return &c->reports[(c->oldest_report + place) % CARDLINK_REPORTS];
}

/* ---- Boots ---- */

static struct cl_boot *boot_known(struct cardlink *c, uint32_t boot)
{
    for (uint32_t i = 0; i < c->boot_count; i++)
        if (c->boots[i].boot == boot)
            return &c->boots[i];
    return NULL;
}

static void remove_oldest(struct cardlink *c)
{
    c->oldest_report = (c->oldest_report + 1) % CARDLINK_REPORTS;
    c->kept--;
    if (c->link.shown > 0)
        c->link.shown--;
}

/* "Kept": if a fifth boot came, the oldest is dropped with its reports. */
void cl_add_boot(struct cardlink *c, uint32_t boot)
{
    if (c->boot_count == CL_BOOTS) {
        while (c->kept > 0 && cl_report_at(c, 0)->boot == c->boots[0].boot)
            remove_oldest(c);
        (void)memmove(c->boots, c->boots + 1, sizeof c->boots - sizeof *c->boots);
        c->boot_count--;
    }
    c->boots[c->boot_count].boot = boot;
    c->boots[c->boot_count].newest = 0;
    c->boot_count++;
}

uint32_t cl_newest(const struct cardlink *c)
{
    return c->boots[c->boot_count - 1].newest;
}

uint32_t cl_oldest(struct cardlink *c, uint32_t boot)
{
    const struct cl_boot *known = boot_known(c, boot);
    for (uint32_t i = 0; i < c->kept; i++)
        if (cl_report_at(c, i)->boot == boot)
            return cl_report_at(c, i)->first;
    return known != NULL ? known->newest + 1 : 1;
}

/* ---- The window ---- */

/* Sends the reports in the window that were not sent yet. */
static void show_window(struct cardlink *c)
{
    struct cl_link *link = &c->link;
    if (!link->active || !link->resumed)
        return;
    while (link->shown < c->kept && link->shown < CL_WINDOW) {
        const struct cl_report *report = cl_report_at(c, link->shown);
        link->shown++;
        cl_send(c, CL_REPORT, report->boot, report->number, report->body, report->size);
        if (link->timer == CL_TIMER_OFF) {
            link->timer = CL_TIMER_LEAVING;
            link->timer_mark = c->output[CARDLINK_MAIN].queued;
        }
    }
}

/* ---- Making ---- */

static void body_start(struct cl_writer *to, uint8_t bytes[CARDLINK_REPORT_BODY], uint8_t tag, uint64_t uptime,
                       size_t fields)
{
    cl_writer_start(to, bytes, CARDLINK_REPORT_BODY);
    cl_put_array(to, 2 + fields);
    cl_put_uint(to, tag);
    cl_put_u64(to, uptime);
}

void cl_report_body(const struct cardlink *c, struct cl_writer *to, uint8_t bytes[CARDLINK_REPORT_BODY], uint8_t tag,
                    size_t fields)
{
    body_start(to, bytes, tag, c->uptime, fields);
}

/* Makes a "reports lost" of a report, from `first` on. Its uptime is that of the report. */
static void make_lost(struct cl_report *report, uint32_t first)
{
    struct cl_reader old = {report->body, report->body + report->size};
    struct cl_writer body;
    size_t fields = 0;
    uint32_t tag = 0;
    uint64_t uptime = 0;
    (void)(cl_get_array(&old, &fields) && cl_get_uint(&old, UINT8_MAX, &tag) && cl_get_u64(&old, &uptime));
    report->first = first;
    body_start(&body, report->body, CL_REPORTS_LOST, uptime, 3);
    cl_put_uint(&body, report->boot);
    cl_put_uint(&body, first);
    cl_put_uint(&body, report->number);
    report->size = (uint8_t)body.size;
}

/* Rule 5: the two oldest of one boot become one "reports lost", which replaces the later one. There are more places than
 * boots, so two of one boot are found. One that replaces a report in the window counts as sent. */
static struct cl_report *make_room(struct cardlink *c)
{
    struct cl_link *link = &c->link;
    uint32_t place = 0, shown = link->shown;
    struct cl_report *later;
    while (place + 2 < c->kept && cl_report_at(c, place)->boot != cl_report_at(c, place + 1)->boot)
        place++;
    later = cl_report_at(c, place + 1);
    make_lost(later, cl_report_at(c, place)->first);
    for (uint32_t i = place; i > 0; i--)
        *cl_report_at(c, i) = *cl_report_at(c, i - 1);
    remove_oldest(c);
    if (shown <= place)
        link->shown = shown;
    else if (shown == place + 1)
        link->shown = place + 1;
    else
        link->shown = shown - 1;
    return later;
}

static struct cl_report *append(struct cardlink *c, uint32_t boot, uint32_t number, uint32_t first, const uint8_t *body,
                                size_t size)
{
    struct cl_report *report = cl_report_at(c, c->kept);
    c->kept++;
    report->boot = boot;
    report->number = number;
    report->first = first;
    report->size = (uint8_t)size;
    (void)memcpy(report->body, body, size);
    return report;
}

/* A report is kept before it is sent. */
static void keep(struct cardlink *c, const struct cl_report *report)
{
#if CARDLINK_FLASH
    cl_flash_report(c, report);
#endif
    if (c->config->reported != NULL)
        c->config->reported(c->config->context, report->number, report->body, report->size);
}

void cl_report_make(struct cardlink *c, const struct cl_writer *body)
{
    struct cl_boot *running = &c->boots[c->boot_count - 1];
    const struct cl_report *report;
    if (c->kept == CARDLINK_REPORTS) {
        report = make_room(c);
        keep(c, report);
    }
    running->newest++;
    report = append(c, c->boot, running->newest, running->newest, body->bytes, body->size);
    keep(c, report);
    show_window(c);
}

#if CARDLINK_FLASH
/* ---- Restoring, in the order in which the flash memory recorded them ---- */

static void remove_range(struct cardlink *c, uint32_t boot, uint32_t first, uint32_t number)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->kept; i++) {
        const struct cl_report *report = cl_report_at(c, i);
        if (report->boot == boot && report->number >= first && report->number <= number)
            continue;
        if (left != i)
            *cl_report_at(c, left) = *report;
        left++;
    }
    c->kept = left;
}

/* Puts the last report kept before all later ones of its boot, and before those of later boots. */
static void sort_last(struct cardlink *c)
{
    for (uint32_t i = c->kept - 1; i > 0; i--) {
        struct cl_report *before = cl_report_at(c, i - 1), *report = cl_report_at(c, i), other;
        const struct cl_boot *one = boot_known(c, before->boot), *two = boot_known(c, report->boot);
        if (one < two || (one == two && before->number < report->number))
            return;
        other = *before;
        *before = *report;
        *report = other;
    }
}

void cl_restore(struct cardlink *c, uint32_t boot, uint32_t number, uint32_t first, const uint8_t *body, size_t size)
{
    struct cl_boot *known = boot_known(c, boot);
    bool gap;
    if (known == NULL) {
        cl_add_boot(c, boot);
        known = boot_known(c, boot);
        known->newest = first - 1;
    }
    gap = first > known->newest + 1; /* records between were damaged */
    if (number > known->newest || first < number) {
        uint32_t from = gap ? known->newest + 1 : first;
        remove_range(c, boot, from, number);
        if (c->kept == CARDLINK_REPORTS)
            (void)make_room(c);
        (void)append(c, boot, number, first, body, size);
        if (gap)
            make_lost(cl_report_at(c, c->kept - 1), from);
        if (number > known->newest)
            known->newest = number;
        sort_last(c);
    }
}
#endif

/* ---- Acknowledgements ---- */

bool cl_cover(struct cardlink *c, uint32_t boot, uint32_t number)
{
    const struct cl_boot *known = boot_known(c, boot);
    bool covered = false;
    if (known == NULL || number == 0 || number > known->newest || cl_oldest(c, boot) > known->newest)
        return false; /* the last: nothing is kept from that boot */
    while (c->kept > 0 && (cl_report_at(c, 0)->boot != boot || cl_report_at(c, 0)->number <= number)) {
        if (cl_report_at(c, 0)->boot != boot && boot_known(c, cl_report_at(c, 0)->boot) > known)
            break;
        remove_oldest(c);
        covered = true;
    }
    return covered;
}

void cl_acknowledged(struct cardlink *c, uint32_t boot, uint32_t number)
{
    struct cl_link *link = &c->link;
    if (!cl_cover(c, boot, number))
        return;
#if CARDLINK_FLASH
    cl_flash_ack(c, boot, number);
#endif
    link->timer_wait = RESEND_MS;
    link->timer_from = c->now;
    link->timer = c->kept > 0 ? CL_TIMER_RUNNING : CL_TIMER_OFF;
    show_window(c);
    if (link->catch_up > 0 &&
        (c->kept == 0 || (cl_report_at(c, 0)->boot == c->boot && cl_report_at(c, 0)->first > link->catch_up))) {
        link->catch_up = 0;
        cl_send_status(c, false);
    }
}

/* A resume is the first ack; the status that answers it comes before all reports, and both restart with each resume
 * ("A link", device, rule 3). */
void cl_resume(struct cardlink *c, uint32_t boot, uint32_t number)
{
    struct cl_link *link = &c->link;
    link->resumed = false;
    link->catch_up = 0;
    cl_acknowledged(c, boot, number);
    link->resumed = true;
    cl_send_status(c, true);
    link->catch_up = c->kept > 0 ? cl_newest(c) : 0;
    link->shown = 0;
    link->timer = CL_TIMER_OFF;
    link->timer_wait = RESEND_MS;
    show_window(c);
}

void cl_reports_tick(struct cardlink *c)
{
    struct cl_link *link = &c->link;
    if (link->timer == CL_TIMER_LEAVING && (int32_t)(c->output[CARDLINK_MAIN].sent - link->timer_mark) >= 0) {
        link->timer = CL_TIMER_RUNNING;
        link->timer_from = c->now;
    }
    if (link->timer != CL_TIMER_RUNNING || c->now - link->timer_from < link->timer_wait)
        return;
    link->timer = CL_TIMER_OFF;
    link->timer_wait = link->timer_wait * 2 < RESEND_MOST_MS ? link->timer_wait * 2 : (uint32_t)RESEND_MOST_MS;
    link->shown = 0;
    show_window(c);
}
