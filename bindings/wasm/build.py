"""Builds the playground: one page with the module, the script and the style in it.

Usage: build.py FOLDER. Cargo builds the module for wasm32-unknown-unknown; `--module FILE` takes a built one.

The page is one file because browsers load no other file, not even a script, for a page from a folder. Its policy allows
the scripts in it by their hashes, and no connection.
"""

import argparse
import base64
import gzip
import hashlib
import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# In an order in which each file imports from files before it.
SCRIPTS = ["dom", "unpack", "calls", "state", "presets", "pictures", "lanes", "registers", "object", "main"]
# The report has a script of its own, which runs in a frame of the page.
REPORT = [ROOT / f"crates/eitri-inspect/src/report/{name}.js" for name in ["data", "timeline", "page"]]
LIMIT = 3_000_000


def module(target_folder):
    """Builds the module. The stack is that of a thread on other systems: the reader of nested entries needs some of it."""
    arguments = ["cargo", "rustc", "--quiet", "-p", "eitri-wasm", "--lib", "--profile", "wasm", "--target", "wasm32-unknown-unknown",
                 "--target-dir", target_folder, "--", "-C", "link-arg=-zstack-size=4194304"]
    subprocess.run(arguments, cwd=ROOT, check=True)
    return Path(target_folder) / "wasm32-unknown-unknown/wasm/eitri_wasm.wasm"


def bundled(name):
    """A file of the script as a function that returns what it exports: all files are one script."""
    text = (HERE / f"page/{name}.js").read_text().strip()
    exports = re.findall(r"^export (?:async )?(?:const|function) (\w+)", text, re.MULTILINE)
    text = re.sub(r'^import (\{.*\}) from "\./(\w+)\.js";$', r"const \1 = \2Module;", text, flags=re.MULTILINE)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return f"const {name}Module = (() => {{\n{text}\nreturn {{ {', '.join(exports)} }};\n}})();"


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(module_bytes):
    script = "\n\n".join(bundled(name) for name in SCRIPTS)
    report = "\n".join(file.read_text() for file in REPORT)
    scripts = " ".join(digest(f"\n{text}\n") for text in [script, report])
    policy = [
        "default-src 'none'", f"script-src {scripts} 'wasm-unsafe-eval'", "worker-src blob:", "frame-src blob:",
        "style-src 'unsafe-inline'", "img-src data:", "connect-src 'none'", "form-action 'none'", "base-uri 'none'",
    ]
    parts = {
        "policy": "; ".join(policy),
        "style": (HERE / "page/style.css").read_text().strip(),
        "engine": (HERE / "page/engine.js").read_text().strip(),
        "module": base64.b64encode(gzip.compress(module_bytes, 9, mtime=0)).decode(),
        "script": script,
    }
    text = (HERE / "page/index.html").read_text()
    for name, part in parts.items():
        before, after = text.split(f"<!--{name}-->")
        assert "</script" not in part, name
        text = before + part + after
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--module", type=Path)
    arguments = parser.parse_args()
    built = arguments.module or module(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    text = page(built.read_bytes())
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "index.html").write_text(text)
    size = len(text.encode())
    print(f"{arguments.folder / 'index.html'}: {size} bytes, of which {built.stat().st_size} bytes of module are packed")
    if size > LIMIT:
        raise SystemExit(f"the page has {size} bytes; expected at most {LIMIT}")


if __name__ == "__main__":
    main()
