"""The playground in headless chromium: built once, opened from a file, driven without a network."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/report"))
from browser import Browser  # noqa: E402

# Widths of the page in pixels, each with its height.
WIDTHS = {1280: 900, 400: 800}


def start():
    """Builds the page, unless EITRI_PLAYGROUND is its folder, and starts the browser."""
    global folder, url, size, browser
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    built = os.environ.get("EITRI_PLAYGROUND")
    if built is None:
        built = Path(folder.name) / "playground"
        subprocess.run([sys.executable, ROOT / "bindings/wasm/build.py", built], check=True)
    files = [file for file in Path(built).rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    url = f"file://{Path(built).resolve()}/index.html"
    browser = Page(folder.name)


def end():
    browser.close()
    folder.cleanup()


def opened(address=None, width=1280):
    """Opens the playground in a page of its own, and closes the page before."""
    browser.session, browser.events = None, []
    before = [target["targetId"] for target in browser.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
    browser.open(address or url, width, WIDTHS[width])
    # Not earlier: the browser ends with its last page.
    for target in before:
        try:
            browser.call("Target.closeTarget", targetId=target)
        except SystemExit:
            # The page of an earlier test is closing already.
            pass
    return browser


class Page(Browser):
    """A browser with the playground."""

    def ready(self):
        # The answer to a change begins after a pause in typing.
        self.value("new Promise((go) => setTimeout(go, 300))")
        for _ in range(600):
            if self.value("document.documentElement.dataset.ready") == "true":
                return
            time.sleep(0.05)
        raise AssertionError(f"the page is not ready: {self.messages()}")

    def wait(self, condition):
        for _ in range(600):
            if self.value(condition):
                return
            time.sleep(0.1)
        raise AssertionError(f"{condition} does not come; {self.value('document.body.innerText')}")

    def fill(self, field, value, event="input"):
        self.value(f"""(() => {{ const field = document.querySelector({json.dumps(field)});
            field.value = {json.dumps(value)};
            field.dispatchEvent(new Event({json.dumps(event)}, {{bubbles: true}})); }})()""")
        self.ready()

    def example(self, name):
        self.value(f"""(() => {{ const list = document.getElementById("example");
            list.selectedIndex = [...list.options].findIndex((option) => option.text === {json.dumps(name)});
            list.dispatchEvent(new Event("change")); }})()""")
        self.ready()

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def texts(self, selector):
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((item) => item.innerText.replace(/\\s+/g, ' '))")

    def drop(self, file, contents=None):
        """Drops a file on the page."""
        packed = base64.b64encode(Path(file).read_bytes() if contents is None else contents).decode()
        self.value(f"""(() => {{ const bytes = Uint8Array.from(atob("{packed}"), (char) => char.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], {json.dumps(Path(file).name)}));
            for (const type of ["dragover", "drop"]) {{
              document.body.dispatchEvent(new DragEvent(type, {{dataTransfer: data, bubbles: true, cancelable: true}}));
            }} }})()""")

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        self.settle()

    def width(self, pixels):
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=WIDTHS[pixels], deviceScaleFactor=1, mobile=False)
        self.settle()

    def in_frame(self, expression):
        """Evaluates in the report's frame, which may be in another process. `None` while the frame gets its page."""
        children = self.call("Page.getFrameTree")["frameTree"].get("childFrames")
        own = self.session
        try:
            if children:
                world = self.call("Page.createIsolatedWorld", frameId=children[0]["frame"]["id"])["executionContextId"]
                return self.call("Runtime.evaluate", expression=expression, contextId=world, returnByValue=True)["result"].get("value")
            targets = self.call("Target.getTargets")["targetInfos"]
            [target] = [target["targetId"] for target in targets if target["type"] == "iframe"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            return self.value(expression)
        except SystemExit:
            return None
        finally:
            self.session = own

    def sent(self):
        return [address for address in self.requests() if not address.startswith("blob:")]

    def shoot(self, name, whole=True):
        if "EITRI_PICTURES" not in os.environ:
            return
        options = {}
        if whole:
            area = self.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
            clip = {"x": 0, "y": 0, "width": area[0], "height": min(area[1], 4000), "scale": 1}
            options = {"captureBeyondViewport": True, "clip": clip}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        (Path(os.environ["EITRI_PICTURES"]) / f"{name}.png").write_bytes(base64.b64decode(data))
