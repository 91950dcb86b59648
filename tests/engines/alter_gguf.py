#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""alter_gguf.py FROM TO WHAT - a GGUF file with slightly other weights.

    ulp TENSOR       its first element (F32) one ulp larger
    head SEED SCALE  a head as fine-tuning leaves it: the embedding's weights
                     (F32; its own tensor output.weight, if they were one), and
                     to them added a product of rank one of that scale

Needs numpy and gguf: llama_server.python().
"""

import shutil
import sys

import gguf
import numpy


def ulp(path, to, name):
    shutil.copyfile(path, to)
    for tensor in gguf.GGUFReader(to, "r+").tensors:
        if tensor.name == name:
            tensor.data.view(numpy.uint32)[0] += 1
            return
    sys.exit("no tensor " + name)


def copy_fields(reader, writer):
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == (
                gguf.Keys.General.ARCHITECTURE):
            continue
        kind = field.types[0]
        writer.add_key_value(
            field.name, field.contents(), kind,
            field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)


def head(path, to, seed, scale):
    reader = gguf.GGUFReader(path)
    tensors = {t.name: t.data for t in reader.tensors}
    of = tensors.get("output.weight", tensors["token_embd.weight"])
    chance = numpy.random.default_rng(int(seed))
    rows, columns = (chance.standard_normal(n) for n in of.shape)
    tensors["output.weight"] = (
        of + float(scale) * numpy.outer(rows, columns)).astype(numpy.float32)
    writer = gguf.GGUFWriter(to, reader.get_field(
        gguf.Keys.General.ARCHITECTURE).contents())
    copy_fields(reader, writer)
    for name, data in tensors.items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    {"ulp": ulp, "head": head}[sys.argv[3]](*sys.argv[1:3], *sys.argv[4:])
