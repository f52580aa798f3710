/* cardlink-device [--virtual] KIND SERIAL KEYHEX START [FD], or cardlink-device --crypto.
 *
 * Speaks on the descriptor FD, or on a pty that it opens. Reads control lines on stdin, answers each with `ok` or `no`
 * after everything that it causes was written, and ends with stdin. With --virtual only `tick MS` advances the time.
 * CARDLINK_NO_RANDOM=1 in the environment: a device without a true random source.
 */
#define _GNU_SOURCE
#include "cardlink_device.h"

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

enum { STEP_MS = 10, WAIT_MS = 20 };

static struct device device;
static struct config config;
static bool with_virtual_time, closed, unplugged;
static uint64_t virtual_ms;
static int port = -1;

static uint64_t now(void)
{
    struct timespec time;
    if (with_virtual_time)
        return virtual_ms;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- Lines on stdout ---- */

static void print_values(struct reader *from, size_t count, const char *between)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *text = from->at;
        uint64_t number;
        size_t inner;
        if (i > 0)
            fputs(between, stdout);
        if (get_uint(from, UINT64_MAX, &number))
            printf("%llu", (unsigned long long)number);
        else if (get_array(from, &inner)) {
            putchar('[');
            print_values(from, inner, ",");
            putchar(']');
        } else if (get_text(from, FRAME)) /* the texts of reports are shorter than 32 bytes: one byte before them */
            printf("\"%.*s\"", (int)(from->at - text - 1), (const char *)text + 1);
        else
            fputs(*from->at++ == 0xc3 ? "true" : "false", stdout);
    }
}

static void print_report(void *context, uint32_t number, const uint8_t *body, size_t size)
{
    struct reader from = {body, body + size};
    size_t elements = 0;
    (void)context;
    get_array(&from, &elements);
    printf("report %u ", number);
    print_values(&from, elements, " ");
    putchar('\n');
}

static void print_active(void *context)
{
    (void)context;
    puts("active");
}

static void print_lost(void *context)
{
    (void)context;
    puts("lost");
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

static void start(const char *cause)
{
    device_start(&device, &config, cause, now());
    printf("boot %u start %u\n", device.boot, config.start);
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
    struct sha256 sum;
    uint8_t bytes[4096], digest[32];
    ssize_t size;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    sha256_start(&sum);
    while (file >= 0 && (size = read(file, bytes, sizeof bytes)) > 0)
        sha256_add(&sum, bytes, (size_t)size);
    if (file >= 0)
        close(file);
    sha256_end(&sum, digest);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

/* ---- The line ---- */

static void write_port(void)
{
    const uint8_t *bytes;
    size_t size;
    while (!closed && (size = device_output(&device, &bytes)) > 0) {
        ssize_t written = write(port, bytes, size);
        if (written <= 0) {
            closed = closed || (errno != EAGAIN && errno != EINTR && errno != EIO);
            return;
        }
        device_sent(&device, (size_t)written, now());
    }
}

static void read_port(void)
{
    uint8_t bytes[1024];
    ssize_t size = -1;
    unplugged = false;
    while (!closed && (size = read(port, bytes, sizeof bytes)) > 0) {
        device_receive(&device, bytes, (size_t)size, now());
        write_port();
    }
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR && errno != EIO))
        closed = true;
    unplugged = size < 0 && errno == EIO; /* nobody has the other side of the pty open */
}

static void step(void)
{
    device_tick(&device, now());
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
        return control_load(&device, first ? (uint32_t)one : 52, (uint32_t)two);
    if (strcmp(word, "lift") == 0)
        return control_lift(&device);
    if (strcmp(word, "draw") == 0 || strcmp(word, "draw2") == 0)
        return control_draw(&device, word[4] ? 2 : 1);
    if (strcmp(word, "faceup") == 0)
        return control_face_up(&device);
    if (strcmp(word, "jam") == 0 || strcmp(word, "clear") == 0)
        return control_jam(&device, word[0] == 'j');
    if (strcmp(word, "count") == 0) {
        printf("count forged %u repeated %u damaged %u\n", device.forged, device.repeated, device.line.damaged);
        return true;
    }
    if (strcmp(word, "reset") != 0)
        return false;
    config.start++;
    start("reset");
    return true;
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
        device.now = now();
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
        if (!closed && !unplugged && device_output(&device, &bytes) > 0)
            ready[1].events |= POLLOUT;
        bool idle = with_virtual_time || (!device.link.active && !device.candidate.present && !device.mechanism.moving);
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
    struct sha256 sum;
    struct hmac mac;
    struct candidate keys;
    size_t size[5] = {0};
    char *rest, *word = strtok_r(line, " \n", &rest), *text;
    for (int i = 0; i < 5 && (text = strtok_r(NULL, " \n", &rest)) != NULL; i++) {
        long length = from_hex(text, bytes[i], sizeof bytes[i] - TAG);
        size[i] = length < 0 ? 0 : (size_t)length;
    }
    if (word == NULL)
        return;
    if (strcmp(word, "sha256") == 0) {
        sha256_start(&sum);
        sha256_add(&sum, bytes[0], size[0]);
        sha256_end(&sum, result);
        print_hex(result, sizeof result);
    } else if (strcmp(word, "hmac") == 0) {
        hmac_start(&mac, bytes[0]);
        hmac_add(&mac, bytes[1], size[1]);
        hmac_end(&mac, result);
        print_hex(result, sizeof result);
    } else if (strcmp(word, "seal") == 0) {
        seal_text(bytes[0], bytes[1], bytes[2], size[2], bytes[3], size[3], bytes[3] + size[3]);
        print_hex(bytes[3], size[3] + TAG);
    } else if (strcmp(word, "open") == 0 && size[3] >= TAG) {
        size_t length = size[3] - TAG;
        if (open_text(bytes[0], bytes[1], bytes[2], size[2], bytes[3], length, bytes[3] + length))
            print_hex(bytes[3], length);
        else
            puts("forged");
    } else if (strcmp(word, "keys") == 0) {
        frame_keys(bytes[0], bytes[1], bytes[2], bytes[3], size[3], bytes[4], size[4], &keys);
        print_hex(keys.host_proof, sizeof result);
        print_hex(keys.device_proof, sizeof result);
        print_hex(keys.session.host_key, sizeof result);
        print_hex(keys.session.device_key, sizeof result);
    } else if (strcmp(word, "nonce") == 0) {
        make_nonce(bytes[0], bytes[1], size[1], load_le(bytes[2]), load_le(bytes[3]), bytes[4], size[4], result);
        print_hex(result, NONCE);
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

int main(int count, char **words)
{
    const char *no_source = getenv("CARDLINK_NO_RANDOM");
    if (count == 2 && strcmp(words[1], "--crypto") == 0)
        return crypto();
    if (count > 1 && strcmp(words[1], "--virtual") == 0) {
        with_virtual_time = true;
        count--;
        words++;
    }
    if ((count != 5 && count != 6) || (strcmp(words[1], "shoe") != 0 && strcmp(words[1], "shuffler") != 0) ||
        strlen(words[2]) >= sizeof config.serial || strlen(words[3]) != 2 * KEY ||
        from_hex(words[3], config.key, KEY) != KEY) {
        fputs("cardlink-device [--virtual] shuffler|shoe SERIAL KEYHEX START [FD]\n", stderr);
        return 2;
    }
    config.shoe = strcmp(words[1], "shoe") == 0;
    strcpy(config.serial, words[2]);
    config.start = (uint32_t)strtoul(words[4], NULL, 10);
    own_digest(config.digest);
    config.random = no_source != NULL && strcmp(no_source, "1") == 0 ? no_random : true_random;
    config.reported = print_report;
    config.activated = print_active;
    config.lost = print_lost;
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
    start("power");
    fflush(stdout);
    run();
    return 0;
}
