# ===- batches.py - Ragged batches for the tests of single ops ------------===#
#
# Part of the k3 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
#
# A step packs several sequences behind each other; each has a slot for its states, pages for its cache, and tokens from
# earlier steps. Slot -1 marks a row of padding, which must write nothing.
#
# ===----------------------------------------------------------------------===#
import numpy as np

PAGE = 64
# What no kernel may touch: a NaN with a pattern of its own, so that even a copied one shows.
POISON = np.frombuffer(np.uint32(0x7FC5A5A5).tobytes(), np.float32)[0]


class Batch:
    def __init__(self, lengths, slots, before=None, max_seqs=9, max_context=256, seed=0):
        self.lengths, self.slots = list(lengths), list(slots)
        self.before = list(before or [0] * len(lengths))
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int32)
        self.tokens = int(self.offsets[-1])
        pages = max_context // PAGE
        self.pages = max_seqs * pages
        order = np.random.default_rng([seed, 7]).permutation(self.pages)
        self.table = np.zeros((len(lengths), pages), np.int32)
        for i in range(len(lengths)):
            self.table[i] = order[i * pages : (i + 1) * pages]

    def rows(self, i):
        return slice(self.offsets[i], self.offsets[i + 1])

    def fields(self):
        seq = np.repeat(np.arange(len(self.lengths)), self.lengths)
        pos = np.concatenate([b + np.arange(n) for b, n in zip(self.before, self.lengths)] or [[]])
        return {
            "token_seq": seq.astype(np.int32),
            "token_pos": pos.astype(np.int32),
            "seq_offsets": self.offsets,
            "seq_slots": np.array(self.slots, np.int32),
            "seq_context": np.array([b + n for b, n in zip(self.before, self.lengths)], np.int32),
            "page_table": self.table,
        }

    def pool(self, rng, shape, max_seqs=9):
        """States of all slots: random where a sequence lives, poison elsewhere."""
        pool = np.full((max_seqs, *shape), POISON, np.float32)
        for slot in self.slots:
            if slot >= 0:
                pool[slot] = rng.normal(size=shape)
        return pool

    def cells(self, i, count):
        """Page and place in it of the first `count` tokens of sequence i."""
        at = np.arange(count)
        return self.table[i][at // PAGE], at % PAGE


def same_bits(a, b):
    bits = [np.ascontiguousarray(x, np.float32).view(np.uint32) for x in (a, b)]
    return np.array_equal(*bits)
