/* Frames on the line ("Frames") and the part of MessagePack that bodies use ("Bodies").
 * SPDX-License-Identifier: Apache-2.0 */
#include "cardlink_parts.h"

#include <string.h>

uint32_t cl_crc32(const uint8_t *bytes, size_t size, uint32_t before)
{
    uint32_t crc = ~before;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static void store(struct cl_receiver *line, uint8_t byte)
{
    if (line->size < CL_FRAME)
        line->frame[line->size] = byte;
    if (line->size <= CL_FRAME) /* counts on to one more, so that a frame that is too long fails the size test */
        line->size++;
}

/* Returns the size of header and payload when a good frame has ended with this byte, else 0. */
size_t cl_receive_byte(struct cl_receiver *line, uint8_t byte)
{
    if (byte == 0xc0) {
        size_t size;
        if (line->escaped)
            store(line, 0xdb);
        size = line->size;
        line->size = 0;
        line->escaped = false;
        if (size >= CL_HEADER + CL_CRC && size <= CL_FRAME && cl_crc32(line->frame, size, 0) == 0x2144df1cu)
            return size - CL_CRC;
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

static void queue_byte(struct cl_output *out, uint8_t byte)
{
    out->bytes[out->end] = byte;
    out->end++;
    out->queued++;
}

/* `frame` has room for the CRC. Queues nothing if the escaped frame might not fit as a whole. The bytes that wait are
 * moved to the beginning when the end is reached, so that they always are in one piece. */
bool cl_queue(struct cl_output *out, uint8_t *frame, size_t size)
{
    size_t waiting = (size_t)out->end - out->begin, most = 2u * (size + CL_CRC) + 2u;
    if (out->room - waiting < most)
        return false;
    if ((size_t)out->room - out->end < most) {
        memmove(out->bytes, out->bytes + out->begin, waiting);
        out->begin = 0;
        out->end = (uint16_t)waiting;
    }
    cl_store(frame + size, cl_crc32(frame, size, 0));
    queue_byte(out, 0xc0);
    for (size_t i = 0; i < size + CL_CRC; i++) {
        if (frame[i] == 0xc0 || frame[i] == 0xdb) {
            queue_byte(out, 0xdb);
            queue_byte(out, frame[i] == 0xc0 ? 0xdc : 0xdd);
        } else {
            queue_byte(out, frame[i]);
        }
    }
    queue_byte(out, 0xc0);
    return true;
}

void cl_discard(struct cl_output *out)
{
    out->begin = 0;
    out->end = 0;
    out->sent = out->queued;
}

/* ---- Writing MessagePack: every integer in its shortest form ("Lengths" under "Sealed frames") ---- */

void cl_writer_start(struct cl_writer *to, uint8_t *bytes, size_t room)
{
    to->bytes = bytes;
    to->room = room;
    to->size = 0;
    to->failed = false;
}

static void put(struct cl_writer *to, const void *bytes, size_t size)
{
    if (to->failed || size > to->room - to->size) {
        to->failed = true;
        return;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_head(struct cl_writer *to, uint8_t first, uint32_t value, uint32_t width)
{
    uint8_t head[5];
    head[0] = first;
    for (uint32_t i = 1; i <= width; i++)
        head[i] = (uint8_t)(value >> (8u * (width - i)));
    put(to, head, 1 + width);
}

void cl_put_uint(struct cl_writer *to, uint32_t value)
{
    if (value < 0x80)
        put_head(to, (uint8_t)value, 0, 0);
    else if (value <= UINT8_MAX)
        put_head(to, 0xcc, value, 1);
    else if (value <= UINT16_MAX)
        put_head(to, 0xcd, value, 2);
    else
        put_head(to, 0xce, value, 4);
}

void cl_put_u64(struct cl_writer *to, uint64_t value)
{
    uint8_t rest[4];
    if (value <= UINT32_MAX) {
        cl_put_uint(to, (uint32_t)value);
    } else {
        put_head(to, 0xcf, (uint32_t)(value >> 32), 4);
        for (uint32_t i = 0; i < 4; i++)
            rest[i] = (uint8_t)(value >> (24u - 8u * i));
        put(to, rest, sizeof rest);
    }
}

void cl_put_array(struct cl_writer *to, size_t elements)
{
    if (elements < 16)
        put_head(to, (uint8_t)(0x90 | elements), 0, 0);
    else
        put_head(to, 0xdc, (uint32_t)elements, 2);
}

static void put_text_head(struct cl_writer *to, size_t size)
{
    if (size < 32)
        put_head(to, (uint8_t)(0xa0u | size), 0, 0);
    else
        put_head(to, 0xd9, (uint32_t)size, 1); /* no text here is longer than 200 bytes */
}

/* Cuts a text that is too long, at the beginning of a character. */
void cl_put_text(struct cl_writer *to, const char *text, size_t most)
{
    size_t size = 0;
    while (size < most && text[size] != 0)
        size++;
    while (size > 0 && text[size] != 0 && ((uint8_t)text[size] & 0xc0u) == 0x80)
        size--;
    put_text_head(to, size);
    put(to, text, size);
}

/* One text of two parts */
void cl_put_words(struct cl_writer *to, const char *one, const char *other)
{
    put_text_head(to, strlen(one) + strlen(other));
    put(to, one, strlen(one));
    put(to, other, strlen(other));
}

void cl_put_bin(struct cl_writer *to, const uint8_t *bytes, size_t size)
{
    put_head(to, 0xc4, (uint32_t)size, 1);
    put(to, bytes, size);
}

void cl_put_bool(struct cl_writer *to, bool value)
{
    put_head(to, value ? 0xc3 : 0xc2, 0, 0);
}

void cl_put_nil(struct cl_writer *to)
{
    put_head(to, 0xc0, 0, 0);
}

/* ---- Reading MessagePack. Each function reads one value, or returns false without advancing the reader ---- */

static bool get_size(struct cl_reader *from, size_t width, uint64_t *value)
{
    if ((size_t)(from->end - from->at) < 1 + width)
        return false;
    *value = 0;
    for (size_t i = 1; i <= width; i++)
        *value = (*value << 8) | from->at[i];
    return true;
}

bool cl_get_u64(struct cl_reader *from, uint64_t *value)
{
    size_t width = 0;
    if (from->at == from->end)
        return false;
    if (*from->at < 0x80) {
        *value = *from->at;
    } else if (*from->at >= 0xcc && *from->at <= 0xcf) {
        width = (size_t)1 << (*from->at - 0xcc);
        if (!get_size(from, width, value))
            return false;
    } else {
        return false;
    }
    from->at += 1 + width;
    return true;
}

bool cl_get_uint(struct cl_reader *from, uint32_t most, uint32_t *value)
{
    struct cl_reader start = *from;
    uint64_t number = 0;
    if (cl_get_u64(from, &number) && number <= most) {
        *value = (uint32_t)number;
        return true;
    }
    *from = start;
    return false;
}

bool cl_get_fields(struct cl_reader *from, size_t least, size_t *more)
{
    size_t elements = 0;
    if (!cl_get_array(from, &elements) || elements < least)
        return false;
    *more = elements - least;
    return true;
}

bool cl_get_end(struct cl_reader *from, size_t more)
{
    return cl_skip(from, more) && from->at == from->end;
}

bool cl_get_array(struct cl_reader *from, size_t *elements)
{
    uint64_t number;
    if (from->at == from->end)
        return false;
    if ((*from->at & 0xf0) == 0x90) {
        *elements = *from->at++ & 0x0f;
        return true;
    }
    if (*from->at != 0xdc || !get_size(from, 2, &number))
        return false;
    *elements = (size_t)number;
    from->at += 3;
    return true;
}

static bool get_bytes(struct cl_reader *from, uint8_t one_byte, bool text, const uint8_t **bytes, size_t *size)
{
    uint64_t length;
    size_t width;
    if (from->at == from->end)
        return false;
    if (text && (*from->at & 0xe0) == 0xa0) {
        length = *from->at & 0x1f;
        width = 0;
    } else if (*from->at == one_byte || *from->at == one_byte + 1) {
        width = (size_t)1 + (*from->at - one_byte);
        if (!get_size(from, width, &length))
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

bool cl_get_bin(struct cl_reader *from, const uint8_t **bytes, size_t *size)
{
    return get_bytes(from, 0xc4, false, bytes, size);
}

/* Returns the number of characters of complete, shortest-form UTF-8, or -1. */
static int32_t characters_of(const uint8_t *bytes, size_t size)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    int32_t characters = 0;
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

bool cl_get_text(struct cl_reader *from, uint32_t most_characters, const uint8_t **bytes, size_t *size)
{
    struct cl_reader start = *from;
    if (get_bytes(from, 0xd9, true, bytes, size)) {
        int32_t characters = characters_of(*bytes, *size);
        if (characters >= 0 && (uint32_t)characters <= most_characters)
            return true;
    }
    *from = start;
    return false;
}

/* Skips values of any type of "Bodies": elements that a receiver does not know. Each pass takes a byte or more. */
bool cl_skip(struct cl_reader *from, size_t values)
{
    while (values > 0) {
        const uint8_t *bytes;
        uint64_t value;
        size_t size;
        values--;
        if (cl_get_array(from, &size)) {
            values += size;
        } else if (!cl_get_u64(from, &value) && !cl_get_bin(from, &bytes, &size) &&
                   !cl_get_text(from, CL_FRAME, &bytes, &size)) {
            if (from->at == from->end || *from->at < 0xc0 || *from->at > 0xc3 || *from->at == 0xc1)
                return false;
            from->at++; /* nil, false or true */
        }
    }
    return true;
}
