/* cardlink-device [--virtual] [--removal] [--flash FILE] [--interrupt FD] KIND SERIAL KEYHEX START [FD], or
 * cardlink-device --crypto, or cardlink-device --vectors KEYHEX: device_kit with a simulated mechanism, and an example
 * of a port.
 *
 * Speaks on the descriptor FD, or on a pty that it opens. Reads control lines on stdin, answers each with `ok` or `no`
 * after everything that it causes was written, and ends with stdin. With --virtual only `tick MS` advances the time.
 * --removal: a shuffler that dispenses on removal. --flash: FILE is its flash memory, which also counts the starts.
 * --interrupt: a USB interrupt endpoint. CARDLINK_NO_RANDOM=1 in the environment: without a true random source.
 */
#define _GNU_SOURCE
#include "cardlink_parts.h"
#include "mechanism.h"
#include "vectors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 10, WAIT_MS = 20, AREA = CARDLINK_FLASH_LEAST };

static struct cardlink device;
static struct mechanism mechanism;
static struct cardlink_config config;
static uint8_t key[CL_KEY];
static char digest[65];
static bool with_virtual_time, closed, unplugged;
static uint32_t virtual_ms;
static int port = -1, interrupt_port = -1, flash_file = -1;
static long until_cut = -1; /* bytes that the flash memory writes until the power is cut */

static uint32_t now(void)
{
    struct timespec time;
    if (with_virtual_time)
        return virtual_ms;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint32_t)((uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_nsec / 1000000u);
}

/* ---- Lines on stdout ---- */

static void print_values(struct cl_reader *from, size_t count, const char *between)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *text;
        uint64_t number;
        size_t inner;
        if (i > 0)
            fputs(between, stdout);
        if (cl_get_u64(from, &number))
            printf("%llu", (unsigned long long)number);
        else if (cl_get_array(from, &inner)) {
            putchar('[');
            for (size_t card = 0; card < inner && cl_get_u64(from, &number); card++)
                printf(card > 0 ? ",%llu" : "%llu", (unsigned long long)number);
            putchar(']');
        } else if (cl_get_text(from, CL_FRAME, &text, &inner))
            printf("\"%.*s\"", (int)inner, (const char *)text);
        else
            fputs(*from->at++ == 0xc3 ? "true" : "false", stdout);
    }
}

static void print_report(void *context, uint32_t number, const uint8_t *body, size_t size)
{
    struct cl_reader from = {body, body + size};
    size_t elements = 0;
    (void)context;
    cl_get_array(&from, &elements);
    printf("report %u ", number);
    print_values(&from, elements, " ");
    putchar('\n');
}

static void print_linked(void *context, bool linked)
{
    (void)context;
    puts(linked ? "active" : "lost");
}

/* ---- Randomness and the start ---- */

static bool true_random(void *context, uint8_t *bytes, size_t size)
{
    (void)context;
    return getrandom(bytes, size, 0) == (ssize_t)size;
}

static bool no_random(void *context, uint8_t *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
    return false;
}

/* ---- A flash memory in a file ---- */

static bool flash_read(void *context, unsigned area, uint32_t at, uint8_t *bytes, size_t size)
{
    (void)context;
    return pread(flash_file, bytes, size, (off_t)(area * AREA + at)) == (ssize_t)size;
}

/* The power is cut within what is written or erased: the process ends, and the file keeps the first part. */
static size_t until_power_fails(size_t size)
{
    if (until_cut < 0)
        return size;
    if ((size_t)until_cut >= size) {
        until_cut -= (long)size;
        return size;
    }
    return (size_t)until_cut;
}

static bool flash_append(void *context, unsigned area, uint32_t at, const uint8_t *bytes, size_t size)
{
    size_t part = until_power_fails(size);
    (void)context;
    for (size_t i = 0; i < size; i++) {
        uint8_t old;
        if (pread(flash_file, &old, 1, (off_t)(area * AREA + at + i)) != 1 || old != 0xff)
            abort(); /* flash memory cannot be written twice */
    }
    if (pwrite(flash_file, bytes, part, (off_t)(area * AREA + at)) != (ssize_t)part)
        return false;
    if (part < size) {
        fflush(stdout);
        _exit(0);
    }
    return true;
}

static bool flash_erase(void *context, unsigned area)
{
    static uint8_t blank[AREA];
    size_t part = until_power_fails(AREA);
    (void)context;
    memset(blank, 0xff, sizeof blank);
    if (pwrite(flash_file, blank, part, (off_t)(area * AREA)) != (ssize_t)part)
        return false;
    if (part < AREA) {
        fflush(stdout);
        _exit(0);
    }
    return true;
}

static const struct cardlink_flash FLASH = {AREA, flash_read, flash_append, flash_erase};

static bool open_flash(const char *path)
{
    bool fresh = access(path, F_OK) != 0;
    flash_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    config.flash = &FLASH;
    return flash_file >= 0 && (!fresh || (flash_erase(NULL, 0) && flash_erase(NULL, 1)));
}

static bool start(const char *cause)
{
    memset(&mechanism, 0, sizeof mechanism);
    mechanism.cardlink = &device;
    mechanism.shoe = config.kind == CARDLINK_SHOE;
    if (!cardlink_start(&device, &config, cause, now()))
        return false;
    printf("boot %u start %u\n", device.boot, device.start);
    return true;
}

static int digit(char character)
{
    const char *digits = "0123456789abcdef", *found;
    if (character >= 'A' && character <= 'F')
        character = (char)(character - 'A' + 'a');
    found = character ? strchr(digits, character) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* A lone "-" stands for no bytes. Returns the number of bytes, or -1. */
static long from_hex(const char *text, uint8_t *bytes, size_t room)
{
    size_t size = 0;
    if (strcmp(text, "-") == 0)
        return 0;
    for (; *text; text += 2, size++) {
        int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0 || size == room)
            return -1;
        bytes[size] = (uint8_t)(high << 4 | low);
    }
    return (long)size;
}

static void print_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

/* The digest of the program is that of its file: "Identity". */
static void own_digest(char text[65])
{
    struct cl_sha256 sum;
    uint8_t bytes[4096], sum_bytes[32];
    ssize_t size;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    cl_sha256_start(&sum);
    while (file >= 0 && (size = read(file, bytes, sizeof bytes)) > 0)
        cl_sha256_add(&sum, bytes, (size_t)size);
    if (file >= 0)
        close(file);
    cl_sha256_end(&sum, sum_bytes);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", sum_bytes[i]);
}

/* "Attestation": the program is that file, too. */
static bool read_program(void *context, uint32_t at, uint8_t *bytes, size_t size)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool whole = file >= 0 && pread(file, bytes, size, (off_t)at) == (ssize_t)size;
    (void)context;
    if (file >= 0)
        close(file);
    return whole;
}

/* ---- The line ---- */

static void write_to(int descriptor, enum cardlink_endpoint endpoint)
{
    const uint8_t *bytes;
    size_t size;
    while (!closed && (size = cardlink_output(&device, endpoint, &bytes)) > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written <= 0) {
            closed = closed || (errno != EAGAIN && errno != EINTR && errno != EIO);
            return;
        }
        cardlink_sent(&device, now(), endpoint, (size_t)written);
    }
}

static void write_port(void)
{
    write_to(port, CARDLINK_MAIN);
    if (interrupt_port >= 0)
        write_to(interrupt_port, CARDLINK_INTERRUPT);
}

static void read_port(void)
{
    uint8_t bytes[1024];
    ssize_t size = -1;
    unplugged = false;
    while (!closed && (size = read(port, bytes, sizeof bytes)) > 0) {
        cardlink_receive(&device, now(), bytes, (size_t)size);
        write_port();
    }
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR && errno != EIO))
        closed = true;
    unplugged = size < 0 && errno == EIO; /* nobody has the other side of the pty open */
}

static void step(void)
{
    mechanism_tick(&mechanism, now());
    cardlink_tick(&device, now());
    write_port();
}

/* The slave side stays open here too, so that a host may close it and open it again. */
static bool open_pty(void)
{
    struct termios mode;
    const char *name;
    int slave;
    port = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (port < 0 || grantpt(port) != 0 || unlockpt(port) != 0 || (name = ptsname(port)) == NULL)
        return false;
    slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0 || tcgetattr(slave, &mode) != 0)
        return false;
    cfmakeraw(&mode);
    if (tcsetattr(slave, TCSANOW, &mode) != 0)
        return false;
    printf("port %s\n", name);
    return true;
}

/* ---- Control lines ---- */

static bool pass_time(unsigned long ms)
{
    if (!with_virtual_time)
        return ms == 0; /* waits until everything that was written before is taken */
    for (; ms > 0; ms -= ms < STEP_MS ? ms : STEP_MS) {
        virtual_ms += ms < STEP_MS ? ms : STEP_MS;
        step();
    }
    return true;
}

/* Reports that follow from no movement of cards; `cut` and `reset`. */
static bool report(const char *word, const char *first)
{
    if (strcmp(word, "door") == 0)
        cardlink_door_moved(&device, now(), first != NULL && strcmp(first, "open") == 0);
    else if (strcmp(word, "power") == 0)
        cardlink_power_low(&device, now());
    else if (first != NULL && strcmp(word, "tamper") == 0)
        cardlink_tampered(&device, now(), first);
    else if (first != NULL && strcmp(word, "button") == 0)
        cardlink_button_pressed(&device, now(), first);
    else if (first != NULL && strcmp(word, "check") == 0)
        cardlink_check_failed(&device, now(), first);
    else if (strcmp(word, "fault") == 0)
        cardlink_fault(&device, "fan", first != NULL);
    else if (first != NULL && strcmp(word, "cut") == 0)
        until_cut = atol(first);
    else if (strcmp(word, "reset") == 0) {
        config.start++;
        return start("reset");
    } else
        return false;
    return true;
}

static bool control(char *line)
{
    char *rest, *word = strtok_r(line, " \r\n", &rest);
    char *first = strtok_r(NULL, " \r\n", &rest), *second = strtok_r(NULL, " \r\n", &rest);
    unsigned long one = first ? strtoul(first, NULL, 10) : 0, two = second ? strtoul(second, NULL, 10) : 0;
    if (word == NULL)
        return false;
    if (strcmp(word, "tick") == 0)
        return pass_time(one);
    if (strcmp(word, "load") == 0)
        return mechanism_load(&mechanism, now(), first ? (uint32_t)one : 52, (uint32_t)two);
    if (strcmp(word, "lift") == 0)
        return mechanism_lift(&mechanism, now());
    if (strcmp(word, "draw") == 0 || strcmp(word, "draw2") == 0)
        return mechanism_draw(&mechanism, now(), word[4] ? 2 : 1);
    if (strcmp(word, "faceup") == 0)
        return mechanism_face_up(&mechanism, now());
    if (strcmp(word, "drop") == 0)
        return mechanism_drop(&mechanism);
    if (strcmp(word, "jam") == 0 || strcmp(word, "clear") == 0)
        return mechanism_jam(&mechanism, now(), word[0] == 'j');
    if (strcmp(word, "count") == 0) {
        printf("count forged %u repeated %u damaged %u\n", device.forged, device.repeated, device.line.damaged);
        return true;
    }
    return report(word, first);
}

static bool read_controls(void)
{
    static char lines[4096];
    static size_t size;
    ssize_t more = read(STDIN_FILENO, lines + size, sizeof lines - 1 - size);
    char *line = lines, *end;
    if (more < 0 && errno == EINTR)
        return true;
    if (more <= 0)
        return false;
    size += (size_t)more;
    lines[size] = 0;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (strcmp(line, "quit") == 0)
            return false;
        read_port(); /* first handle what the host wrote before this line */
        puts(control(line) ? (write_port(), "ok") : "no");
    }
    size -= (size_t)(line - lines);
    memmove(lines, line, size);
    return true;
}

static void run(void)
{
    for (;;) {
        struct pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {closed || unplugged ? -1 : port, POLLIN, 0}};
        const uint8_t *bytes;
        if (!closed && !unplugged && cardlink_output(&device, CARDLINK_MAIN, &bytes) > 0)
            ready[1].events |= POLLOUT;
        bool idle = with_virtual_time || (!device.link.active && !device.candidate.present && mechanism.moving == 0);
        if (poll(ready, 2, idle && !unplugged ? -1 : WAIT_MS) < 0 && errno != EINTR)
            return;
        read_port();
        if (ready[0].revents != 0 && !read_controls())
            return;
        if (!with_virtual_time)
            step();
        write_port();
        fflush(stdout);
    }
}

/* ---- --crypto: one line of words and hexadecimal bytes in, one line out ---- */

static void crypto_line(char *line)
{
    static uint8_t bytes[5][2048];
    uint8_t result[32];
    struct cl_sha256 sum;
    struct cl_hmac mac;
    struct cl_candidate keys;
    size_t size[5] = {0};
    char *rest, *word = strtok_r(line, " \n", &rest), *text;
    for (int i = 0; i < 5 && (text = strtok_r(NULL, " \n", &rest)) != NULL; i++) {
        long length = from_hex(text, bytes[i], sizeof bytes[i] - CL_TAG);
        size[i] = length < 0 ? 0 : (size_t)length;
    }
    if (word == NULL)
        return;
    if (strcmp(word, "sha256") == 0) {
        cl_sha256_start(&sum);
        cl_sha256_add(&sum, bytes[0], size[0]);
        cl_sha256_end(&sum, result);
        print_hex(result, sizeof result);
    } else if (strcmp(word, "hmac") == 0) {
        cl_hmac_start(&mac, bytes[0]);
        cl_hmac_add(&mac, bytes[1], size[1]);
        cl_hmac_end(&mac, result);
        print_hex(result, sizeof result);
    } else if (strcmp(word, "seal") == 0) {
        cl_seal(bytes[0], bytes[1], bytes[2], size[2], bytes[3], size[3], bytes[3] + size[3]);
        print_hex(bytes[3], size[3] + CL_TAG);
    } else if (strcmp(word, "open") == 0 && size[3] >= CL_TAG) {
        size_t length = size[3] - CL_TAG;
        if (cl_open(bytes[0], bytes[1], bytes[2], size[2], bytes[3], length, bytes[3] + length))
            print_hex(bytes[3], length);
        else
            puts("forged");
    } else if (strcmp(word, "keys") == 0) {
        cl_frame_keys(bytes[0], bytes[1], bytes[2], bytes[3], size[3], bytes[4], size[4], &keys);
        print_hex(keys.host_proof, sizeof result);
        print_hex(keys.device_proof, sizeof result);
        print_hex(keys.session.host_key, sizeof result);
        print_hex(keys.session.device_key, sizeof result);
    } else if (strcmp(word, "nonce") == 0) {
        cl_make_nonce(bytes[0], bytes[1], size[1], cl_load(bytes[2]), cl_load(bytes[3]), bytes[4], size[4], result);
        print_hex(result, CL_NONCE);
    }
    fflush(stdout);
}

static int crypto(void)
{
    static char line[16384];
    while (fgets(line, sizeof line, stdin) != NULL)
        crypto_line(line);
    return 0;
}

static bool read_options(int *count, char ***words)
{
    while (*count > 1 && strncmp((*words)[1], "--", 2) == 0) {
        const char *word = (*words)[1];
        bool valued = strcmp(word, "--flash") == 0 || strcmp(word, "--interrupt") == 0;
        if (valued && *count < 3)
            return false;
        if (strcmp(word, "--virtual") == 0)
            with_virtual_time = true;
        else if (strcmp(word, "--removal") == 0)
            config.capabilities = CARDLINK_ON_REMOVAL;
        else if (strcmp(word, "--interrupt") == 0)
            interrupt_port = atoi((*words)[2]);
        else if (strcmp(word, "--flash") != 0 || !open_flash((*words)[2]))
            return false;
        *count -= valued ? 2 : 1;
        *words += valued ? 2 : 1;
    }
    return *count == 5 || *count == 6;
}

static bool configure(char **words)
{
    const char *no_source = getenv("CARDLINK_NO_RANDOM");
    bool shoe = strcmp(words[1], "shoe") == 0;
    if ((!shoe && strcmp(words[1], "shuffler") != 0) || strlen(words[3]) != 2 * CL_KEY ||
        from_hex(words[3], key, CL_KEY) != CL_KEY)
        return false;
    own_digest(digest);
    config.kind = shoe ? CARDLINK_SHOE : CARDLINK_SHUFFLER;
    config.unit = shoe ? CARDLINK_SINGLES : CARDLINK_SETS;
    config.capabilities |= CARDLINK_RECOGNISES | CARDLINK_ORIENTATION | CARDLINK_DOUBLE_DRAW | CARDLINK_EXIT;
    if (shoe)
        config.capabilities |= CARDLINK_ON_REMOVAL;
    else
        config.capabilities |= CARDLINK_TRAY | CARDLINK_UNLOADS;
    if ((config.capabilities & CARDLINK_ON_REMOVAL) == 0)
        config.capabilities |= CARDLINK_ON_COMMAND;
    config.maker = "cardshoe";
    config.model = "C device";
    config.serial = words[2];
    config.firmware = "1.0";
    config.firmware_digest = digest;
    config.key = key;
    config.deck_size = 52;
    config.simulated = true;
    config.second_endpoint = interrupt_port >= 0;
    config.start = (uint32_t)strtoul(words[4], NULL, 10);
    config.context = &mechanism;
    config.random = no_source != NULL && strcmp(no_source, "1") == 0 ? no_random : true_random;
    config.program = read_program;
    config.move = mechanism_move;
    config.hold = mechanism_hold;
    config.reported = print_report;
    config.linked = print_linked;
    return true;
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--crypto") == 0)
        return crypto();
    if (count == 3 && strcmp(words[1], "--vectors") == 0) {
        char *ours[] = {words[0], "shuffler", "C-1", words[2], "1"};
        config.capabilities = 0;
        if (!configure(ours))
            return 2;
        config.reported = NULL;
        return judge_vectors(&device, &config, key);
    }
    if (!read_options(&count, &words) || !configure(words)) {
        fputs("cardlink-device [--virtual] [--removal] [--flash FILE] [--interrupt FD] shuffler|shoe SERIAL KEYHEX START "
              "[FD]\n",
              stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (count == 6)
        port = atoi(words[5]);
    else if (!open_pty()) {
        perror("cardlink-device: no pty");
        return 1;
    }
    if (fcntl(port, F_SETFL, fcntl(port, F_GETFL) | O_NONBLOCK) != 0) {
        perror("cardlink-device: FD");
        return 1;
    }
    if (!start("power")) {
        fputs("cardlink-device: the configuration breaks a limit of the page\n", stderr);
        return 2;
    }
    fflush(stdout);
    run();
    return 0;
}
