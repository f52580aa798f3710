/* Reports kept until they are acknowledged, and the window of those in transit: "Reports: numbers, window,
 * acknowledgement". */
#include "cardlink_device.h"

#include <string.h>

enum { REPORTS_LOST = 19, RESEND_MS = 200, RESEND_MOST_MS = 2000 };

static struct report *report_at(struct device *d, size_t place)
{
    return &d->reports[(d->oldest_report + place) % REPORTS];
}

uint32_t reports_oldest(const struct device *d)
{
    return d->kept > 0 ? d->reports[d->oldest_report].first : d->newest + 1;
}

static void remove_oldest(struct device *d)
{
    d->oldest_report = (d->oldest_report + 1) % REPORTS;
    d->kept--;
    if (d->link.shown > 0)
        d->link.shown--;
}

/* Sends the reports in the window that were not sent yet. */
static void show_window(struct device *d)
{
    struct link *link = &d->link;
    if (!link->active || !link->resumed)
        return;
    while (link->shown < d->kept && link->shown < WINDOW) {
        const struct report *report = report_at(d, link->shown++);
        link_send(d, REPORT, d->boot, report->number, report->body, report->size);
        if (link->timer == TIMER_OFF) {
            link->timer = TIMER_LEAVING;
            link->timer_mark = d->output.queued;
        }
    }
}

static void body_start(struct writer *to, uint8_t bytes[REPORT_BODY], uint8_t tag, uint64_t uptime, size_t fields)
{
    *to = (struct writer){bytes, REPORT_BODY, 0, false};
    put_array(to, 2 + fields);
    put_uint(to, tag);
    put_uint(to, uptime);
}

void report_start(struct device *d, struct writer *to, uint8_t bytes[REPORT_BODY], uint8_t tag, size_t fields)
{
    body_start(to, bytes, tag, d->now - d->started_at, fields);
}

/* Rule 5: the two oldest become one "reports lost", which replaces the later one. */
static void make_room(struct device *d)
{
    uint32_t first = report_at(d, 0)->first;
    struct report *later = report_at(d, 1);
    struct writer body;
    later->first = first;
    body_start(&body, later->body, REPORTS_LOST, later->uptime, 3);
    put_uint(&body, d->boot);
    put_uint(&body, first);
    put_uint(&body, later->number);
    later->size = body.size;
    remove_oldest(d);
    d->config.reported(d->config.context, later->number, later->body, later->size);
}

void report_make(struct device *d, const struct writer *body)
{
    struct report *report;
    if (d->kept == REPORTS)
        make_room(d);
    report = report_at(d, d->kept++);
    *report = (struct report){.number = ++d->newest, .uptime = d->now - d->started_at, .size = body->size};
    report->first = report->number;
    memcpy(report->body, body->bytes, body->size);
    d->config.reported(d->config.context, report->number, report->body, report->size);
    show_window(d);
}

/* Rule 4. Only reports of the running boot are kept here. */
void reports_cover(struct device *d, uint32_t boot, uint32_t number)
{
    struct link *link = &d->link;
    size_t before = d->kept;
    if (boot != d->boot || number > d->newest)
        return;
    while (d->kept > 0 && report_at(d, 0)->number <= number)
        remove_oldest(d);
    if (d->kept == before)
        return;
    link->timer_wait = RESEND_MS;
    link->timer_at = d->now + RESEND_MS;
    link->timer = d->kept > 0 ? TIMER_RUNNING : TIMER_OFF;
    show_window(d);
    if (link->catch_up > 0 && reports_oldest(d) > link->catch_up) {
        link->catch_up = 0;
        link_send_status(d);
    }
}

/* A resume is the first ack; the status that answers it comes before all reports, and both restart with each resume
 * ("A link", device, rule 3). */
void reports_resume(struct device *d, uint32_t boot, uint32_t number)
{
    struct link *link = &d->link;
    link->resumed = false;
    link->catch_up = 0;
    reports_cover(d, boot, number);
    link->resumed = true;
    link_send_status(d);
    link->catch_up = d->kept > 0 ? d->newest : 0;
    link->shown = 0;
    link->timer = TIMER_OFF;
    link->timer_wait = RESEND_MS;
    show_window(d);
}

void reports_tick(struct device *d)
{
    struct link *link = &d->link;
    if (link->timer == TIMER_LEAVING && d->output.sent >= link->timer_mark) {
        link->timer = TIMER_RUNNING;
        link->timer_at = d->now + link->timer_wait;
    }
    if (link->timer != TIMER_RUNNING || d->now < link->timer_at)
        return;
    link->timer = TIMER_OFF;
    link->timer_wait = link->timer_wait * 2 < RESEND_MOST_MS ? link->timer_wait * 2 : RESEND_MOST_MS;
    link->shown = 0;
    show_window(d);
}
