/* device_kit as firmware: UART 0 is the line to the host, UART 1 carries control lines to the simulated mechanism.
 *
 * The first line is `new`, which erases the flash memory, or `power shuffler|shoe SERIAL KEYHEX`; the others are those
 * of ../main.c that act on the mechanism. Each is answered with `ok` or `no`. The board has no random source. Its flash
 * memory is RAM that a reset of the board leaves as it is. The time comes from a counter that runs freely: an emulator
 * on a busy host loses ticks, and a clock that counted them would be late. */
#include "../mechanism.h"

#include <string.h>

enum { DATA, STATE, CONTROL, INTERRUPT, DIVIDER };        /* CMSDK UART, words from its base */
enum { FULL = 1, RECEIVED = 2, BY_INTERRUPT = 0xf };      /* STATE; CONTROL: both directions with their interrupts */
enum { TIMER_CONTROL, COUNT, RELOAD };                   /* CMSDK timer, which counts down */
enum { RING = 1024, LINE = 160, CLOCK_HZ = 25000000 };
#define TIMER ((volatile uint32_t *)0x40000000)
#define UART0 ((volatile uint32_t *)0x40004000)
#define UART1 ((volatile uint32_t *)0x40005000)
#define SYSTICK ((volatile uint32_t *)0xe000e010)
#define ENABLE_INTERRUPTS (*(volatile uint32_t *)0xe000e100)

extern uint32_t stack_top, bss_begin, bss_end;
extern const uint8_t program_end;
void reset(void);

struct ring { /* filled by an interrupt, emptied by the main loop */
    uint8_t bytes[RING];
    volatile uint32_t in, out;
};

static struct ring from_host, from_test;
static uint32_t milliseconds, last_count;
static struct cardlink device;
__attribute__((section(".flash"))) static struct mechanism mechanism; /* cards stay where they are without power */
static struct cardlink_config config;
static uint8_t key[32];
static char serial[32], line[LINE];
static uint32_t line_size;
static bool powered;

/* ---- Interrupts ---- */

static void take_byte(volatile uint32_t *uart, struct ring *ring)
{
    uart[INTERRUPT] = 3;
    while ((uart[STATE] & RECEIVED) != 0 && ring->in - ring->out < RING) {
        ring->bytes[ring->in % RING] = (uint8_t)uart[DATA];
        ring->in++;
    }
}

static void on_host(void)
{
    take_byte(UART0, &from_host);
}

static void on_test(void)
{
    take_byte(UART1, &from_test);
}

static void on_tick(void)
{
    /* It only wakes the main loop. */
}

static void stop(void)
{
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const VECTORS[] = {
    &stack_top, (void *)reset, (void *)stop, (void *)stop, (void *)stop, (void *)stop, (void *)stop, 0, 0, 0, 0,
    (void *)stop, (void *)stop, 0, (void *)stop, (void *)on_tick, (void *)on_host, (void *)on_host, (void *)on_test,
    (void *)on_test};

/* ---- Flash memory ---- */

__attribute__((section(".flash"))) static uint8_t flash[2][CARDLINK_FLASH_LEAST];

static bool flash_read(void *context, unsigned area, uint32_t at, uint8_t *bytes, size_t size)
{
    (void)context;
    memcpy(bytes, flash[area] + at, size);
    return true;
}

static bool flash_append(void *context, unsigned area, uint32_t at, const uint8_t *bytes, size_t size)
{
    (void)context;
    for (size_t i = 0; i < size; i++)
        flash[area][at + i] &= bytes[i]; /* only erasing sets a bit */
    return true;
}

static bool flash_erase(void *context, unsigned area)
{
    (void)context;
    memset(flash[area], 0xff, sizeof flash[area]);
    return true;
}

static const struct cardlink_flash FLASH = {CARDLINK_FLASH_LEAST, flash_read, flash_append, flash_erase};

/* The program is the flash memory from its first byte. */
static bool read_program(void *context, uint32_t at, uint8_t *bytes, size_t size)
{
    (void)context;
    if (at > (uint32_t)&program_end || size > (uint32_t)&program_end - at)
        return false;
    memcpy(bytes, (const uint8_t *)at, size);
    return true;
}

/* ---- The mechanism ---- */

static bool no_random(void *context, uint8_t *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    (void)size;
    return false;
}

/* Returns the next word of `*rest`, or NULL. (`strtok` and `atol` of newlib need memory of their own.) */
static char *next_word(char **rest)
{
    char *word = *rest, *end = word;
    while (*end != 0 && *end != ' ')
        end++;
    *rest = *end != 0 ? end + 1 : end;
    *end = 0;
    return *word != 0 ? word : NULL;
}

static uint32_t number(const char *text, uint32_t without)
{
    uint32_t value = 0;
    if (text == NULL)
        return without;
    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (uint32_t)(*text - '0');
    return value;
}

static uint8_t digit(char character)
{
    return (uint8_t)(character <= '9' ? character - '0' : character - 'a' + 10);
}

static bool power(const char *kind, const char *name, const char *hex)
{
    bool shoe = strcmp(kind, "shoe") == 0;
    if (strlen(hex) != 64 || strlen(name) >= sizeof serial)
        return false;
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    strcpy(serial, name);
    config.kind = shoe ? CARDLINK_SHOE : CARDLINK_SHUFFLER;
    config.unit = shoe ? CARDLINK_SINGLES : CARDLINK_SETS;
    config.capabilities = CARDLINK_RECOGNISES | CARDLINK_ORIENTATION | CARDLINK_DOUBLE_DRAW | CARDLINK_EXIT;
    config.capabilities |= shoe ? CARDLINK_ON_REMOVAL : CARDLINK_TRAY | CARDLINK_UNLOADS | CARDLINK_ON_COMMAND;
    config.maker = "cardshoe";
    config.model = "MPS2 board";
    config.serial = serial;
    config.firmware = "1.0";
    config.firmware_digest = "0000000000000000000000000000000000000000000000000000000000000000";
    config.key = key;
    config.deck_size = 52;
    config.simulated = true;
    config.flash = &FLASH;
    config.context = &mechanism;
    config.random = no_random;
    config.program = read_program;
    config.move = mechanism_move;
    config.hold = mechanism_hold;
    mechanism.cardlink = &device;
    mechanism.shoe = shoe;
    mechanism.moving = 0;
    powered = cardlink_start(&device, &config, "power", milliseconds);
    if (powered && mechanism.left + mechanism.tray > 0)
        cardlink_deck_loaded(&device, milliseconds, 0); /* it has forgotten which deck this is */
    return powered;
}

static bool control(void)
{
    uint32_t now = milliseconds;
    char *rest = line, *word = next_word(&rest), *first = next_word(&rest), *second = next_word(&rest);
    char *third = next_word(&rest);
    if (word == NULL)
        return false;
    if (!powered && strcmp(word, "new") == 0) {
        memset(&mechanism, 0, sizeof mechanism);
        return flash_erase(NULL, 0) && flash_erase(NULL, 1);
    }
    if (!powered)
        return strcmp(word, "power") == 0 && third != NULL && power(first, second, third);
    if (strcmp(word, "load") == 0)
        return mechanism_load(&mechanism, now, number(first, 52), number(second, 0));
    if (strcmp(word, "lift") == 0)
        return mechanism_lift(&mechanism, now);
    if (strcmp(word, "draw") == 0)
        return mechanism_draw(&mechanism, now, 1);
    if (strcmp(word, "drop") == 0)
        return mechanism_drop(&mechanism);
    if (strcmp(word, "jam") == 0 || strcmp(word, "clear") == 0)
        return mechanism_jam(&mechanism, now, word[0] == 'j');
    return false;
}

static void put_test(const char *text)
{
    for (; *text != 0; text++) {
        while ((UART1[STATE] & FULL) != 0) {
        }
        UART1[DATA] = (uint8_t)*text;
    }
}

/* ---- The main loop ---- */

static void read_test(void)
{
    while (from_test.out != from_test.in) {
        char byte = (char)from_test.bytes[from_test.out % RING];
        from_test.out++;
        if (byte != '\n') {
            line[line_size] = byte;
            line_size += line_size < LINE - 1 ? 1 : 0;
            continue;
        }
        line[line_size] = 0;
        line_size = 0;
        put_test(control() ? "ok\n" : "no\n");
    }
}

static void read_time(void)
{
    uint32_t passed = (last_count - TIMER[COUNT]) / (CLOCK_HZ / 1000);
    last_count -= passed * (CLOCK_HZ / 1000);
    milliseconds += passed;
}

static bool work(void)
{
    const uint8_t *bytes;
    bool busy = false;
    while (from_host.out != from_host.in) {
        cardlink_receive(&device, milliseconds, &from_host.bytes[from_host.out % RING], 1);
        from_host.out++;
        busy = true;
    }
    mechanism_tick(&mechanism, milliseconds);
    cardlink_tick(&device, milliseconds);
    while (cardlink_output(&device, CARDLINK_MAIN, &bytes) > 0 && (UART0[STATE] & FULL) == 0) {
        UART0[DATA] = *bytes;
        cardlink_sent(&device, milliseconds, CARDLINK_MAIN, 1);
        busy = true;
    }
    return busy;
}

void reset(void)
{
    for (uint32_t *word = &bss_begin; word < &bss_end; word++)
        *word = 0;
    TIMER[RELOAD] = TIMER[COUNT] = last_count = UINT32_MAX;
    TIMER[TIMER_CONTROL] = 1;
    milliseconds = 0;
    SYSTICK[1] = CLOCK_HZ / 1000 - 1;
    SYSTICK[2] = 0;
    SYSTICK[0] = 7;
    UART0[DIVIDER] = UART1[DIVIDER] = 16;
    UART0[CONTROL] = UART1[CONTROL] = BY_INTERRUPT;
    ENABLE_INTERRUPTS = 0xf;
    for (;;) {
        bool busy = false;
        read_time();
        read_test();
        if (powered)
            busy = work();
        if (!busy)
            __asm volatile("wfi"); /* until a byte or the next millisecond */
    }
}
