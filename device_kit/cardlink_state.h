/* The sizes that a maker may set, and what `struct cardlink` holds. Its fields are for reading only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CARDLINK_STATE_H
#define CARDLINK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CARDLINK_REPORTS
#define CARDLINK_REPORTS 64 /* unacknowledged reports kept, 8 or more */
#endif
#ifndef CARDLINK_REPORT_BODY
#define CARDLINK_REPORT_BODY 64 /* bytes, 64 to 240; more only for long details of a self-test */
#endif
#ifndef CARDLINK_OUTPUT
#define CARDLINK_OUTPUT 2048 /* bytes waiting to be sent, 1536 to 4096 (a USB transfer) */
#endif
#ifndef CARDLINK_INTERRUPT_OUTPUT
#define CARDLINK_INTERRUPT_OUTPUT 0 /* the same for a USB interrupt endpoint: 0 without one, otherwise 512 to 4096 */
#endif
#ifndef CARDLINK_FLASH
#define CARDLINK_FLASH 1 /* 0 leaves out the code for reports that survive a loss of power */
#endif
#ifndef CARDLINK_ATTEST
#define CARDLINK_ATTEST 4096 /* bytes of the program that one tick hashes; 0 leaves out the code for `attests` */
#endif
#ifndef CARDLINK_FLASH_UNIT
#define CARDLINK_FLASH_UNIT 8 /* bytes that the flash memory writes at once: 8, 16 or 32 */
#endif

#if CARDLINK_REPORTS < 8 || CARDLINK_REPORT_BODY < 64 || CARDLINK_REPORT_BODY > 240
#error "CARDLINK_REPORTS is at least 8, and CARDLINK_REPORT_BODY is 64 to 240"
#endif
#if CARDLINK_OUTPUT < 1536 || CARDLINK_OUTPUT > 4096
#error "CARDLINK_OUTPUT is 1536 to 4096"
#endif
#if CARDLINK_INTERRUPT_OUTPUT != 0 && (CARDLINK_INTERRUPT_OUTPUT < 512 || CARDLINK_INTERRUPT_OUTPUT > 4096)
#error "CARDLINK_INTERRUPT_OUTPUT is 0, or 512 to 4096"
#endif
#if CARDLINK_FLASH_UNIT != 8 && CARDLINK_FLASH_UNIT != 16 && CARDLINK_FLASH_UNIT != 32
#error "CARDLINK_FLASH_UNIT is 8, 16 or 32"
#endif

/* A record with a report, in whole units, and the area that holds all of the state and the records of a few starts. */
#define CARDLINK_FLASH_RECORD \
    ((20 + CARDLINK_REPORT_BODY + CARDLINK_FLASH_UNIT - 1) / CARDLINK_FLASH_UNIT * CARDLINK_FLASH_UNIT)
#define CARDLINK_FLASH_LEAST (CARDLINK_FLASH_RECORD * (CARDLINK_REPORTS + 8) + 512)

struct cardlink_config;

struct cardlink_count { /* "shuffle finished", "shuffle aborted" */
    uint32_t count, missing, extra, duplicate, unreadable, foreign, face_up;
};

/* Sizes in bytes: "Frames", "Sealed frames". */
enum { CL_FRAME = 512, CL_HEADER = 11, CL_CRC = 4, CL_COUNTER = 4, CL_TAG = 16, CL_KEY = 32, CL_NONCE = 16 };
/* Numbers of things kept. */
enum { CL_WINDOW = 8, CL_COMMANDS = 16, CL_MARKS = 16, CL_BOOTS = 4, CL_FAULTS = 4 };

struct cl_receiver {
    bool escaped;
    uint16_t size;
    uint32_t damaged; /* frames dropped: "Receiving" */
    uint8_t frame[CL_FRAME];
};

struct cl_output { /* bytes `begin` to `end` wait; `queued` and `sent` count bytes since the start and may wrap */
    uint8_t *bytes;
    uint16_t room, begin, end;
    uint32_t queued, sent;
};

struct cl_session { /* keys and counters of one link: "Sealed frames" */
    uint8_t hello[32]; /* SHA-256 of the hello's header and body: enough to recognise it */
    uint8_t host_key[CL_KEY], device_key[CL_KEY];
    uint32_t sent;     /* counter of the last frame sealed */
    uint32_t taken[2]; /* counter of the last frame taken, by its flags */
    uint32_t forged;
};

struct cl_candidate { /* "A link", device */
    bool present, proven;
    uint32_t fitted_at; /* time of the last matching hello or host proof */
    size_t identity_size;
    struct cl_session session;
    uint8_t host_proof[32], device_proof[32];
    uint8_t identity[CL_FRAME];
};

struct cl_report {
    uint32_t boot, number;
    uint32_t first; /* lower than `number` in a "reports lost" */
    uint8_t size;
    uint8_t body[CARDLINK_REPORT_BODY];
};

struct cl_boot { /* "Kept" */
    uint32_t boot, newest;
};

struct cl_command { /* "Commands", rule 2 */
    uint64_t id;
    const char *reason; /* of a refusal or failure; NULL when done */
    uint32_t number;    /* the newest report when the answer was first sent */
    uint8_t order;
    bool known, answered;
};

struct cl_mark { /* a frame of this link with the time of its sending: "Fresh" */
    uint32_t counter, at;
};

enum cl_timer { CL_TIMER_OFF, CL_TIMER_LEAVING, CL_TIMER_RUNNING };

struct cl_sha256 {
    uint32_t state[8];
    uint32_t length; /* bytes */
    uint8_t block[64];
};

struct cl_hmac {
    struct cl_sha256 inner, outer;
};

enum cl_attesting { CL_NOT_ASKED, CL_ATTESTING, CL_ATTESTED };

struct cl_attestation { /* of `length` bytes from `from` on, of which `done` are hashed: "Attestation" */
    uint8_t state; /* enum cl_attesting */
    bool readable;
    uint32_t from, length, done;
    uint8_t salt[32], digest[32];
    struct cl_hmac mac;
};

struct cl_link { /* the active link; small fields first, which a Cortex-M0 reaches with less code */
    bool active;
    bool resumed; /* a resume was understood; before that only sealed rejects are sent */
    uint8_t timer; /* enum cl_timer */
    uint32_t life_at, fresh_at, status_at;
    uint32_t timer_mark; /* end of the first report in the output */
    uint32_t timer_from, timer_wait;
    uint32_t shown;    /* how many of the oldest reports were sent since the resume or the timer's end */
    uint32_t catch_up; /* the newest report of the running boot when the host resumed, until it is acknowledged; then 0 */
    uint32_t marked;   /* marks made */
    uint32_t next_command;
    uint64_t forgotten; /* one more than the highest command id that is no longer remembered */
    struct cl_session session;
    struct cl_mark marks[CL_MARKS];
    struct cl_command commands[CL_COMMANDS];
#if CARDLINK_ATTEST > 0
    struct cl_attestation attestation;
#endif
};

struct cl_fault {
    const char *word;
    bool jam; /* `word` is the zone */
};

struct cl_deck { /* the deck, the exit and the motion, as reports and "Status" describe them */
    bool tray, unloaded, door_open, exit_held;
    uint8_t exit_wanted; /* hold or release, carried out when the set in motion is in the tray; otherwise 0 */
    uint8_t moving;      /* the order that cards are moved for; 0 when they rest */
    uint32_t deck, shuffle, loaded, dispensed, sets;
    uint32_t tray_shuffle, tray_ordinal;
    uint64_t moving_id; /* 0 for a set that is formed on removal */
    uint64_t last_command;
    struct cl_fault faults[CL_FAULTS];
};

struct cl_flash {
    bool works;
    uint8_t area;
    uint32_t sequence, end;
};

struct cardlink {
    const struct cardlink_config *config;
    uint32_t now;
    bool sure_of_start; /* `start` is a counter that survived: "The device's nonce" */
    uint32_t boot, start;
    uint32_t boot_count, kept, oldest_report; /* of the boots, and of the ring of reports */
    uint32_t draws;                           /* new hellos since the start */
    uint32_t ids_drawn;
    uint32_t forged, repeated; /* frames since the start */
    uint64_t uptime;
    struct cl_flash flash;
    struct cl_output output[2]; /* by endpoint */
    struct cl_boot boots[CL_BOOTS]; /* oldest first; the last one is running */
    struct cl_deck deck;
    struct cl_link link;
    struct cl_candidate candidate;
    struct cl_receiver line;
    struct cl_report reports[CARDLINK_REPORTS];
    uint8_t output_bytes[CARDLINK_OUTPUT];
#if CARDLINK_INTERRUPT_OUTPUT > 0
    uint8_t interrupt_bytes[CARDLINK_INTERRUPT_OUTPUT];
#endif
};

#endif
