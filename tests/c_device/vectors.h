/* The bad vectors of docs/cardlink.md, given to the library one by one. */
#ifndef VECTORS_H
#define VECTORS_H

#include "cardlink.h"

/* Reads lines of docs/cardlink_bad_vectors.jsonl on stdin, and prints what the library makes of each frame of a host:
 * its verdict, a colon and what the frame is. `host_key`: K_host of the page. Returns 0, or 1 if a line is unreadable. */
int judge_vectors(struct cardlink *device, const struct cardlink_config *config, const uint8_t host_key[32]);

#endif
