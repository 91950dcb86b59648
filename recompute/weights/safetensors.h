/*
 * safetensors.h - the tensors of a model directory, mapped and checked.
 *
 * A file (github.com/huggingface/safetensors, format section of its README):
 *   0       8  length of the header, little endian, at most 100 MB
 *   8       n  header: JSON object, a tensor's name to
 *              {"dtype": .., "shape": [..], "data_offsets": [begin, end]}
 *              and "__metadata__" to an object of texts
 *   8 + n      the tensors' bytes, little endian, rows last index first
 * The data_offsets of all tensors tile the bytes after the header without a
 * hole or an overlap. Sharded models have model.safetensors.index.json, whose
 * weight_map names the file of each tensor.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include "store/span.h"

struct error;

enum { TENSOR_DIMS_MAX = 8, SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000 };

enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_OTHER };

struct tensor {
    char *name; /* owned by the table */
    enum dtype dtype;
    size_t dims;
    uint64_t shape[TENSOR_DIMS_MAX];
    struct span data; /* within the file's bytes */
};

struct tensors {
    struct tensor *tensor; /* sorted by name */
    size_t n;
    struct mapping {
        void *p;
        size_t n;
    } * file;
    size_t n_files;
};

/*
 * Adds the tensors of one file's bytes, which stay where they are. PARSE_BAD:
 * *ret_why (static) says what is wrong; nothing was added. *ret_name: which
 * tensor, or NULL; the caller frees it.
 */
enum parse safetensors_read(struct span file, struct tensors *t,
                            const char **ret_why, char **ret_name);

/* Maps the weight files of dir, and checks that every tensor stands in the
 * file that the index names. Returns as model_open. */
int tensors_open(const char *dir, struct tensors *ret_t, struct error *ret_why);
void tensors_close(struct tensors *t);
/* NULL if there is none. */
const struct tensor *tensors_find(const struct tensors *t, const char *name);

/* The names of dir's safetensors files, sorted, without doubles: the shards of
 * the index, or model.safetensors. The caller frees each and the list. */
int shards_list(const char *dir, char ***ret_names, size_t *ret_n,
                struct error *ret_why);
void shards_free(char **names, size_t n);

#endif
