/* Frames on the line ("Frames") and the part of MessagePack that bodies use ("Bodies"). */
#include "cardlink_device.h"

#include <string.h>

uint32_t crc32_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    while (size-- > 0) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    return crc ^ 0xffffffff;
}

static void store(struct receiver *line, uint8_t byte)
{
    if (line->size < FRAME)
        line->frame[line->size] = byte;
    if (line->size <= FRAME) /* counts on to one more, so that a frame that is too long fails the size test */
        line->size++;
}

/* Returns the size of header and payload when a good frame has ended with this byte, else 0. */
size_t receive_byte(struct receiver *line, uint8_t byte)
{
    if (byte == 0xc0) {
        size_t size;
        if (line->escaped)
            store(line, 0xdb);
        size = line->size;
        line->size = 0;
        line->escaped = false;
        if (size >= HEADER + CRC && size <= FRAME && crc32_of(line->frame, size) == 0x2144df1c)
            return size - CRC;
        if (size > 0)
            line->damaged++;
        return 0;
    }
    if (line->escaped && (byte == 0xdc || byte == 0xdd)) {
        store(line, byte == 0xdc ? 0xc0 : 0xdb);
        line->escaped = false;
        return 0;
    }
    if (line->escaped)
        store(line, 0xdb);
    line->escaped = byte == 0xdb;
    if (!line->escaped)
        store(line, byte);
    return 0;
}

/* ---- Bytes to send ---- */

static void queue_byte(struct output *out, uint8_t byte)
{
    out->bytes[out->queued++ % OUTPUT] = byte;
}

/* `frame` has room for the CRC. Queues nothing where the escaped frame might not fit as a whole. */
bool queue_frame(struct output *out, uint8_t *frame, size_t size)
{
    uint32_t crc = crc32_of(frame, size);
    if (OUTPUT - (out->queued - out->sent) < 2 * (size + CRC) + 2)
        return false;
    for (int i = 0; i < CRC; i++)
        frame[size++] = (uint8_t)(crc >> 8 * i);
    queue_byte(out, 0xc0);
    for (size_t i = 0; i < size; i++) {
        if (frame[i] == 0xc0 || frame[i] == 0xdb) {
            queue_byte(out, 0xdb);
            queue_byte(out, frame[i] == 0xc0 ? 0xdc : 0xdd);
        } else
            queue_byte(out, frame[i]);
    }
    queue_byte(out, 0xc0);
    return true;
}

/* ---- Writing MessagePack: every integer in its shortest form ("Lengths" under "Sealed frames") ---- */

static void put(struct writer *to, const void *bytes, size_t size)
{
    if (to->failed || size > to->room - to->size) {
        to->failed = true;
        return;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_head(struct writer *to, uint8_t first, uint64_t value, int width)
{
    uint8_t head[9] = {first};
    for (int i = 0; i < width; i++)
        head[1 + i] = (uint8_t)(value >> 8 * (width - 1 - i));
    put(to, head, 1 + (size_t)width);
}

void put_uint(struct writer *to, uint64_t value)
{
    if (value < 0x80)
        put_head(to, (uint8_t)value, 0, 0);
    else if (value <= UINT8_MAX)
        put_head(to, 0xcc, value, 1);
    else if (value <= UINT16_MAX)
        put_head(to, 0xcd, value, 2);
    else if (value <= UINT32_MAX)
        put_head(to, 0xce, value, 4);
    else
        put_head(to, 0xcf, value, 8);
}

void put_array(struct writer *to, size_t elements)
{
    if (elements < 16)
        put_head(to, (uint8_t)(0x90 | elements), 0, 0);
    else
        put_head(to, 0xdc, elements, 2);
}

void put_text(struct writer *to, const char *text)
{
    size_t size = strlen(text);
    if (size < 32)
        put_head(to, (uint8_t)(0xa0 | size), 0, 0);
    else
        put_head(to, 0xd9, size, 1); /* no text here is longer than 200 bytes */
    put(to, text, size);
}

void put_bin(struct writer *to, const uint8_t *bytes, size_t size)
{
    put_head(to, 0xc4, size, 1);
    put(to, bytes, size);
}

void put_bool(struct writer *to, bool value)
{
    put_head(to, value ? 0xc3 : 0xc2, 0, 0);
}

/* ---- Reading MessagePack. Each function reads one value, or returns false without advancing the reader ---- */

static bool get_size(struct reader *from, size_t after, int width, uint64_t *value)
{
    if ((size_t)(from->end - from->at) < after + (size_t)width)
        return false;
    *value = 0;
    for (int i = 0; i < width; i++)
        *value = *value << 8 | from->at[after + (size_t)i];
    return true;
}

bool get_uint(struct reader *from, uint64_t most, uint64_t *value)
{
    int width;
    if (from->at == from->end)
        return false;
    if (*from->at < 0x80) {
        *value = *from->at;
        width = 0;
    } else if (*from->at >= 0xcc && *from->at <= 0xcf) {
        width = 1 << (*from->at - 0xcc);
        if (!get_size(from, 1, width, value))
            return false;
    } else
        return false;
    if (*value > most)
        return false;
    from->at += 1 + width;
    return true;
}

bool get_array(struct reader *from, size_t *elements)
{
    uint64_t number;
    if (from->at == from->end)
        return false;
    if ((*from->at & 0xf0) == 0x90) {
        *elements = *from->at++ & 0x0f;
        return true;
    }
    if (*from->at != 0xdc || !get_size(from, 1, 2, &number))
        return false;
    *elements = (size_t)number;
    from->at += 3;
    return true;
}

static bool get_bytes(struct reader *from, uint8_t one_byte, bool text, const uint8_t **bytes, size_t *size)
{
    uint64_t length;
    int width;
    if (from->at == from->end)
        return false;
    if (text && (*from->at & 0xe0) == 0xa0) {
        length = *from->at & 0x1f;
        width = 0;
    } else if (*from->at == one_byte || *from->at == one_byte + 1) {
        width = 1 + (*from->at - one_byte);
        if (!get_size(from, 1, width, &length))
            return false;
    } else
        return false;
    if ((uint64_t)(from->end - from->at) < 1 + (uint64_t)width + length)
        return false;
    *bytes = from->at + 1 + width;
    *size = (size_t)length;
    from->at = *bytes + length;
    return true;
}

bool get_bin(struct reader *from, const uint8_t **bytes, size_t *size)
{
    return get_bytes(from, 0xc4, false, bytes, size);
}

/* Returns the number of characters of complete, shortest-form UTF-8, or -1. */
static int characters_of(const uint8_t *bytes, size_t size)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    int characters = 0;
    for (size_t at = 0; at < size; characters++) {
        uint8_t first = bytes[at++];
        size_t more = first < 0x80 ? 0 : (first & 0xe0) == 0xc0 ? 1 : (first & 0xf0) == 0xe0 ? 2 : 3;
        uint32_t point = first < 0x80 ? first : first & (0x3fu >> more);
        if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || more > size - at)
            return -1;
        for (size_t i = 0; i < more; i++, at++) {
            if ((bytes[at] & 0xc0) != 0x80)
                return -1;
            point = point << 6 | (bytes[at] & 0x3f);
        }
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return -1;
    }
    return characters;
}

bool get_text(struct reader *from, int most_characters)
{
    struct reader start = *from;
    const uint8_t *bytes;
    size_t size;
    if (get_bytes(from, 0xd9, true, &bytes, &size)) {
        int characters = characters_of(bytes, size);
        if (characters >= 0 && characters <= most_characters)
            return true;
    }
    *from = start;
    return false;
}

/* Skips values of any type of "Bodies": elements that a receiver does not know. */
bool skip(struct reader *from, size_t values)
{
    while (values-- > 0) {
        const uint8_t *bytes;
        uint64_t value;
        size_t size;
        if (get_array(from, &size))
            values += size;
        else if (!get_uint(from, UINT64_MAX, &value) && !get_bin(from, &bytes, &size) &&
                 !get_text(from, FRAME)) {
            if (from->at == from->end || *from->at < 0xc0 || *from->at > 0xc3 || *from->at == 0xc1)
                return false;
            from->at++; /* nil, false or true */
        }
    }
    return true;
}
