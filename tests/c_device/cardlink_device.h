/* A cardlink v1 device, written from docs/cardlink.md: the names in quotes are sections of that page.
 *
 * crypto.c           hashes and the cipher
 * wire.c             frames and MessagePack
 * handshake.c        hello, identity, proofs, and the keys derived from them
 * cardlink_device.c  sealed frames, signs of life, commands and answers
 * reports.c          reports kept, the window, acknowledgements
 * mechanism.c        a simulated shuffler or shoe
 * main.c             files, the clock and control lines
 *
 * All but main.c takes bytes and milliseconds as arguments and keeps everything in `struct device`.
 */
#ifndef CARDLINK_DEVICE_H
#define CARDLINK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VERSION = 1 };
/* Sizes in bytes: "Frames", "Sealed frames". */
enum { FRAME = 512, HEADER = 11, CRC = 4, COUNTER = 4, TAG = 16, KEY = 32, NONCE = 16, OUTPUT = 8192 };
/* Numbers of things kept. */
enum { REPORTS = 64, WINDOW = 8, COMMANDS = 16, MARKS = 16, REPORT_BODY = 64, CARDS = 60 };

enum kind {
    HELLO = 0x01, IDENTITY = 0x02, HOST_PROOF = 0x03, DEVICE_PROOF = 0x04, RESUME = 0x05, REJECT = 0x06,
    SEALED_REJECT = 0x07, ACK = 0x10, REPORT = 0x20, STATUS = 0x21, COMMAND = 0x30, ANSWER = 0x31
};
enum order { NOTHING, DISPENSE, HOLD_EXIT, RELEASE_EXIT, SHUFFLE, UNLOAD_STUB, SHOW, SELF_TEST };

/* ---- crypto.c ---- */

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};
struct hmac {
    struct sha256 inner, outer;
};

uint32_t load_le(const uint8_t *from);
void store_le(uint8_t *to, uint32_t value);
void wipe(void *memory, size_t size);
bool equal(const uint8_t *one, const uint8_t *other, size_t size);
void sha256_start(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const void *bytes, size_t size);
void sha256_end(struct sha256 *sum, uint8_t digest[32]);
void hmac_start(struct hmac *mac, const uint8_t key[KEY]);
void hmac_add(struct hmac *mac, const void *bytes, size_t size);
void hmac_part(struct hmac *mac, const void *bytes, size_t size);
void hmac_end(struct hmac *mac, uint8_t tag[32]);
void seal_text(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
               size_t size, uint8_t tag[TAG]);
bool open_text(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *known, size_t known_size, uint8_t *text,
               size_t size, const uint8_t tag[TAG]);

/* ---- wire.c ---- */

struct receiver {
    uint8_t frame[FRAME];
    size_t size;
    bool escaped;
    uint32_t damaged; /* frames dropped: "Receiving" */
};
struct output { /* a ring; both numbers count bytes since the start */
    uint8_t bytes[OUTPUT];
    uint64_t queued, sent;
};
struct writer {
    uint8_t *bytes;
    size_t room, size;
    bool failed;
};
struct reader {
    const uint8_t *at, *end;
};

uint32_t crc32_of(const uint8_t *bytes, size_t size);
size_t receive_byte(struct receiver *line, uint8_t byte);
bool queue_frame(struct output *out, uint8_t *frame, size_t size);
void put_uint(struct writer *to, uint64_t value);
void put_array(struct writer *to, size_t elements);
void put_text(struct writer *to, const char *text);
void put_bin(struct writer *to, const uint8_t *bytes, size_t size);
void put_bool(struct writer *to, bool value);
bool get_uint(struct reader *from, uint64_t most, uint64_t *value);
bool get_array(struct reader *from, size_t *elements);
bool get_bin(struct reader *from, const uint8_t **bytes, size_t *size);
bool get_text(struct reader *from, int most_characters);
bool skip(struct reader *from, size_t values);

/* ---- The device ---- */

struct session { /* keys and counters of one link: "Sealed frames" */
    uint8_t hello[32]; /* SHA-256 of the hello's header and body: enough to recognise it */
    uint8_t host_key[KEY], device_key[KEY];
    uint32_t sent;     /* counter of the last frame sealed */
    uint32_t taken[2]; /* counter of the last frame taken, by its flags */
    uint32_t forged;
};

struct candidate { /* "A link", device */
    bool present, proven;
    uint64_t fitted_at; /* time of the last matching hello or host proof */
    struct session session;
    uint8_t host_proof[32], device_proof[32];
    uint8_t identity[FRAME];
    size_t identity_size;
};

struct report {
    uint32_t number;
    uint32_t first; /* lower than `number` in a "reports lost" */
    uint64_t uptime;
    size_t size;
    uint8_t body[REPORT_BODY];
};

struct command { /* "Commands", rule 2 */
    bool known, answered;
    uint64_t id;
    uint8_t order;
    const char *reason; /* of a refusal or failure; null when done */
    uint32_t number;    /* the newest report when the answer was first sent */
};

struct mark { /* a frame of this link with the time of its sending: "Fresh" */
    uint32_t counter;
    uint64_t at;
};

struct link { /* the active link */
    bool active;
    bool resumed; /* a resume was understood; before that nothing is sent but a sealed reject */
    struct session session;
    uint64_t life_at, fresh_at, status_at;
    struct mark marks[MARKS];
    uint32_t marked; /* marks made */
    uint32_t catch_up; /* the newest report kept when the host resumed, until it is acknowledged; then 0 */
    struct command commands[COMMANDS];
    unsigned next_command;
    uint64_t forgotten; /* one more than the highest command id that is no longer remembered */
    size_t shown;       /* how many of the oldest reports were sent since the resume or the timer's end */
    enum { TIMER_OFF, TIMER_LEAVING, TIMER_RUNNING } timer;
    uint64_t timer_mark; /* end of the first report in the output */
    uint64_t timer_at;
    uint32_t timer_wait;
};

struct mechanism {
    uint8_t cards[CARDS]; /* the deck as it was put in, or as it was shuffled */
    uint32_t count;       /* cards put in */
    uint32_t left;        /* cards still in the device, without the tray */
    uint32_t deck, loaded, shuffle, dispensed, sets;
    uint32_t set_cards; /* ordered of the set in motion */
    uint32_t tray_cards, tray_shuffle, tray_ordinal;
    uint32_t pseudo_random;
    bool face_up_next, double_next, jammed, exit_held;
    enum order exit_wanted; /* hold or release, to be carried out once the set in motion is in the tray */
    enum order moving;
    uint64_t moving_id, moving_until, last_command;
};

struct config {
    bool shoe;
    char serial[32];
    char digest[65];
    uint8_t key[KEY];
    uint32_t start; /* from memory that survives a loss of power: "The device's nonce" */
    void *context;
    bool (*random)(void *context, uint8_t *bytes, size_t size); /* false without a true random source */
    void (*reported)(void *context, uint32_t number, const uint8_t *body, size_t size);
    void (*activated)(void *context);
    void (*lost)(void *context);
};

struct device {
    struct config config;
    uint64_t now, started_at;
    uint32_t boot;
    uint32_t draws;       /* new hellos since the start */
    uint32_t ids_drawn;
    struct receiver line;
    struct output output;
    struct candidate candidate;
    struct link link;
    struct report reports[REPORTS]; /* a ring */
    size_t oldest_report, kept;
    uint32_t newest;
    uint32_t forged, repeated; /* since the start */
    struct mechanism mechanism;
};

/* cardlink_device.c. Times are of one clock, in ms, and never go back. */
void device_start(struct device *d, const struct config *config, const char *cause, uint64_t now);
void device_receive(struct device *d, const uint8_t *bytes, size_t size, uint64_t now);
void device_tick(struct device *d, uint64_t now); /* at least every 100 ms while there is a link, a candidate or motion */
size_t device_output(const struct device *d, const uint8_t **bytes); /* what can be written next, in one piece */
void device_sent(struct device *d, size_t size, uint64_t now);

/* cardlink_device.c, for the other parts */
void put_header(const struct device *d, uint8_t *frame, enum kind kind);
void reject(struct device *d, const char *code, const char *text); /* in the clear */
void link_send(struct device *d, enum kind kind, uint32_t boot, uint32_t number, const uint8_t *body, size_t size);
void link_send_status(struct device *d);
struct command *command_known(struct device *d, uint64_t id);
void command_end(struct device *d, struct command *command, const char *reason);

/* handshake.c */
void take_hello(struct device *d, const uint8_t *frame, size_t size);
void take_proof(struct device *d, const uint8_t *frame, size_t size);
uint32_t draw_id(struct device *d, const char *role); /* not 0, and new */
void frame_keys(const uint8_t key[KEY], const uint8_t *host_nonce, const uint8_t *device_nonce, const uint8_t *hello,
                size_t hello_size, const uint8_t *identity, size_t identity_size, struct candidate *to);
void make_nonce(const uint8_t key[KEY], const uint8_t *random, size_t random_size, uint32_t start, uint32_t draw,
                const uint8_t *hello, size_t hello_size, uint8_t nonce[NONCE]);

/* reports.c */
void report_start(struct device *d, struct writer *to, uint8_t bytes[REPORT_BODY], uint8_t tag, size_t fields);
void report_make(struct device *d, const struct writer *body);
uint32_t reports_oldest(const struct device *d); /* as `oldest` of "Kept" */
void reports_cover(struct device *d, uint32_t boot, uint32_t number);
void reports_resume(struct device *d, uint32_t boot, uint32_t number);
void reports_tick(struct device *d);

/* mechanism.c */
void mechanism_order(struct device *d, struct command *command, uint32_t count);
void mechanism_tick(struct device *d);
void mechanism_host_lost(struct device *d);
void put_status(struct device *d, struct writer *to);
bool control_load(struct device *d, uint32_t count, uint32_t seed); /* seed 0: the fixed order */
bool control_lift(struct device *d);
bool control_draw(struct device *d, uint32_t cards);
bool control_face_up(struct device *d);
bool control_jam(struct device *d, bool jammed);

#endif
