/* A device with a link whose host has sent some frames takes one bad vector, and is looked at before and after. */
#include "vectors.h"
#include "cardlink_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATER_MS = 100, LINE = 8192 };
static const uint32_t BOOT = 0x1A2B3C4D; /* of the vectors */

/* Returns the text of a field after its name, or NULL. The file has no escapes and no nested values. */
static const char *field(const char *line, const char *name)
{
    const char *found = strstr(line, name);
    return found == NULL ? NULL : found + strlen(name);
}

static size_t from_digits(const char *text, uint8_t *bytes, size_t room)
{
    size_t size = 0;
    unsigned byte;
    while (size < room && sscanf(text + 2 * size, "%2x", &byte) == 1)
        bytes[size++] = (uint8_t)byte;
    return size;
}

/* A link that was resumed and has taken `taken` frames; nothing waits to be sent. */
static void establish(struct cardlink *device, const struct cardlink_config *config, const uint8_t host_key[32],
                      uint32_t taken)
{
    cardlink_start(device, config, "power", 0);
    device->boot = BOOT;
    device->boots[device->boot_count - 1].boot = BOOT;
    device->link.active = true;
    device->link.resumed = true;
    device->link.session.taken[0] = taken;
    memcpy(device->link.session.host_key, host_key, CL_KEY);
}

/* Returns the kind of the first frame that the device sends, and its decoded bytes; 0 if it sends none. */
static uint8_t first_sent(const struct cardlink *device, struct cl_receiver *line)
{
    const uint8_t *bytes;
    size_t size = cardlink_output(device, CARDLINK_MAIN, &bytes);
    memset(line, 0, sizeof *line);
    for (size_t i = 0; i < size; i++)
        if (cl_receive_byte(line, bytes[i]) > 0)
            return line->frame[1];
    return 0;
}

static bool is_of_device(uint8_t kind)
{
    return kind == CL_IDENTITY || kind == CL_DEVICE_PROOF || kind == CL_REJECT || kind == CL_SEALED_REJECT ||
           kind == CL_REPORT || kind == CL_STATUS || kind == CL_ANSWER || kind == CL_ATTESTATION;
}

static const char *verdict_on(struct cardlink *device, const uint8_t *frame, size_t size)
{
    struct cl_receiver sent;
    uint32_t taken = device->link.session.taken[0];
    uint8_t answer, kind;
    bool is_life;
    cardlink_receive(device, LATER_MS, frame, size);
    answer = first_sent(device, &sent);
    kind = device->line.frame[1];
    is_life = device->link.life_at == LATER_MS;
    if (answer == CL_SEALED_REJECT || (answer == CL_REJECT && memcmp(sent.frame + CL_HEADER + 2, "message", 7) == 0))
        return "not understood";
    if (answer != 0)
        return "understood"; /* an identity, or a reject of another version */
    if (is_life)
        return kind == CL_ACK || kind == CL_COMMAND || kind == CL_RESUME ? "understood" : "ignored";
    if (device->link.session.taken[0] != taken || !device->link.active)
        return "taken without a sign of life";
    if (device->line.damaged > 0)
        return "damaged";
    if (device->forged > 0)
        return "forged";
    if (device->repeated > 0)
        return "repeated";
    return is_of_device(kind) ? "ignored" : "dropped";
}

int judge_vectors(struct cardlink *device, const struct cardlink_config *config, const uint8_t host_key[32])
{
    static char line[LINE];
    static uint8_t frame[LINE / 2];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *what = field(line, "\"what\": \""), *from = field(line, "\"from\": \"");
        const char *taken = field(line, "\"taken\": "), *bytes = field(line, "\"bytes\": \"");
        if (what == NULL || from == NULL || taken == NULL || bytes == NULL)
            return 1;
        if (strncmp(from, "host", 4) != 0)
            continue;
        establish(device, config, host_key, (uint32_t)strtoul(taken, NULL, 10));
        printf("%s: %.*s\n", verdict_on(device, frame, from_digits(bytes, frame, sizeof frame)),
               (int)strcspn(what, "\""), what);
    }
    return 0;
}
