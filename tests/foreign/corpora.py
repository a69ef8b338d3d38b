"""Lints what other compilers wrote, and compares the errors with the verdicts of `verdicts.tsv`.

Usage: corpora.py EITRI FOLDER [--all]. Builds in the folder: without `--all` what takes seconds, with it also sqlite and
what needs cross compilers, Go and Free Pascal. A compiler that is not installed is named and skipped.

Each error-level finding has a shape: its code, and its text without numbers and names. Each shape of a corpus has to be in
`verdicts.tsv`, with the reason why it is a true finding. Numbers are printed only, because they vary with releases of the
compilers. With CI=true, a compiler that is missing is an error.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SQLITE = "0.35.0"


class Skipped(Exception):
    """The program that builds a corpus is not installed."""


def run(*command, **options):
    command = [str(part) for part in command]
    if shutil.which(command[0]) is None:
        raise Skipped(f"needs {command[0]}")
    ran = subprocess.run(command, capture_output=True, text=True, **options)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{ran.stderr}")
    return ran.stdout


def amd(_):
    return sorted((HERE.parent / "objects" / "amd").iterdir())


def library(compiler):
    def build(folder):
        objects = []
        for level in ["-O0", "-O2"]:
            objects.append(folder / f"library{level}.o")
            run(compiler, "-std=c++17", "-g", level, "-c", HERE / "library.cpp", "-o", objects[-1])
        return objects
    return build


def nvcc(folder):
    objects = []
    for processor in ["sm_80", "sm_90", "sm_100"]:
        for option in ["-G", "-lineinfo"]:
            objects.append(folder / f"kernels.{processor}{option}.cubin")
            run("nvcc", "-cubin", option, f"-arch={processor}", HERE / "kernels.cu", "-o", objects[-1])
    return objects


def sqlite_source(folder):
    """The amalgamation, from the source of the crate `libsqlite3-sys`."""
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "sqlite-source"\nversion = "0.0.0"\nedition = "2024"\n'
        f'[dependencies]\nlibsqlite3-sys = "={SQLITE}"\n[lib]\npath = "lib.rs"\n[workspace]\n')
    (folder / "lib.rs").write_text("")
    metadata = json.loads(run("cargo", "metadata", "--format-version", "1", cwd=folder))
    manifest = next(p["manifest_path"] for p in metadata["packages"] if p["name"] == "libsqlite3-sys")
    return pathlib.Path(manifest).parent / "sqlite3" / "sqlite3.c"


def sqlite(compiler, *options):
    def build(folder):
        if shutil.which(compiler) is None:
            raise Skipped(f"needs {compiler}")
        output = folder / "sqlite3.o"
        run(compiler, "-O2", "-g", *options, "-c", sqlite_source(folder), "-o", output)
        return [output]
    return build


def pascal(folder):
    shutil.copy(HERE / "sums.pas", folder)
    run("fpc", "-O2", "-gw4", "sums.pas", cwd=folder)
    return [folder / "sums"]


def go(folder):
    environment = os.environ | {"GOCACHE": str(folder / "cache"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    run("go", "build", "-o", folder / "sums", HERE / "sums.go", env=environment)
    return [folder / "sums"]


# Name, what builds the objects, and whether it takes seconds.
CORPORA = [
    ("amd", amd, True),
    ("c++ gcc", library("g++"), True),
    ("c++ clang", library("clang++-19"), True),
    ("nvcc", nvcc, True),
    ("sqlite gcc", sqlite("gcc"), False),
    ("sqlite clang", sqlite("clang-19"), False),
    ("sqlite riscv64", sqlite("riscv64-linux-gnu-gcc"), False),
    ("sqlite mips", sqlite("mips-linux-gnu-gcc"), False),
    ("sqlite arm", sqlite("arm-linux-gnueabihf-gcc"), False),
    ("pascal", pascal, False),
    ("go", go, False),
]


def shape(finding):
    """The code of a finding, and its text without what differs from one finding to the next."""
    text = re.sub(r"`[^`]*`|%[a-z]+\d+", "…", finding["written"])
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)\b", "N", text)
    return finding["code"], text


def verdicts():
    lines = (HERE / "verdicts.tsv").read_text().splitlines()[1:]
    return {tuple(line.split("\t")[:3]) for line in lines}


def lint(eitri, name, build, folder):
    folder.mkdir(parents=True, exist_ok=True)
    try:
        objects = build(folder)
    except Skipped as skipped:
        if os.environ.get("CI") == "true":
            raise
        return f"{name}: skipped, {skipped}", {}
    shapes = {}
    for file in objects:
        ran = subprocess.run([eitri, "lint", "--format", "json", file], capture_output=True, text=True)
        # A file with an unreadable part has a finding that says so; a file that is not read at all has none.
        if ran.returncode not in (0, 1) and not ran.stdout:
            shapes.setdefault((name, "unreadable", ran.stderr.strip()), []).append({"file": str(file)})
        for line in ran.stdout.splitlines():
            finding = json.loads(line)
            if finding["level"] == "error":
                shapes.setdefault((name, *shape(finding)), []).append(finding)
    return f"{name}: {len(objects)} objects, {sum(map(len, shapes.values()))} errors", shapes


def main():
    eitri, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    chosen = [corpus for corpus in CORPORA if corpus[2] or "--all" in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda corpus: lint(eitri, corpus[0], corpus[1], folder / corpus[0].replace(" ", "-")), chosen))
    known, unknown = verdicts(), []
    for line, shapes in results:
        print(line)
        for key, findings in shapes.items():
            first = findings[0]
            print(f"  {len(findings)} × {key[1]}: {key[2]}")
            if key not in known:
                unknown.append(key)
                print(f"    no verdict; the first: {json.dumps(first)}")
    if unknown:
        sys.exit(f"{len(unknown)} kinds of errors have no verdict in tests/foreign/verdicts.tsv")


main()
