"""Drives the page of `eitri report` in headless chromium, by the DevTools protocol over a pipe.

Usage: browser.py PAGE QUESTION [SCREENSHOT]. Prints one line of JSON: the answer, messages of the console, requests.
"""

import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib


class Browser:
    def __init__(self, folder):
        (self.commands_read, self.commands), (self.answers, answers_write) = os.pipe(), os.pipe()

        def descriptors():
            # The browser reads commands from 3 and writes answers to 4.
            a, b = os.dup(self.commands_read), os.dup(answers_write)
            os.dup2(a, 3), os.dup2(b, 4)

        arguments = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                     "--no-first-run", "--disable-dev-shm-usage", "--disable-extensions", "--hide-scrollbars",
                     f"--user-data-dir={folder}", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(arguments, preexec_fn=descriptors, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(self.commands_read), os.close(answers_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise SystemExit("the browser ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url, width=1400, height=820):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # The page does not load from the network.
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        start = time.monotonic()
        self.call("Page.navigate", url=url)
        for _ in range(1200):
            if self.value("document.documentElement?.dataset.ready") == "true":
                seconds = time.monotonic() - start
                self.settle()
                return seconds
            time.sleep(0.05)
        raise SystemExit(f"the page is not ready: {self.messages()}")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key, text=None):
        codes = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Enter": 13, "Escape": 27, "/": 191}
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        text = text or ("\r" if key == "Enter" else key if len(key) == 1 else None)
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **down, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def click(self, selector):
        box = self.value(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + Math.min(box.height / 2, 8)]; }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
        self.settle()

    def settle(self):
        self.value("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go(1))))")

    def picture(self, file):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def messages(self):
        kinds = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]
        return [event["params"] for event in self.events if event["method"] in kinds]

    def requests(self):
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent]
        # The first is the page itself; data is in it.
        return [url for url in urls[1:] if not url.startswith("data:")]

    def close(self):
        self.process.terminate()
        self.process.wait()


def text(browser, selector):
    return browser.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")


def tour(browser):
    """Everything that a reader does: the answers are compared by the test."""
    found = {"functions": text(browser, "#functions")}
    browser.click("#cells .block[role=gridcell]")
    found["by mouse"] = text(browser, "#details .expression")
    found["hash"] = browser.value("location.hash")
    found["selected"] = browser.value("[...document.querySelectorAll('[aria-selected=true]')].map((one) => one.id)")
    browser.value("document.getElementById('timeline').focus()")
    seen = []
    for key in ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"]:
        browser.key(key)
        seen.append(browser.value("document.getElementById('status').textContent"))
    found["by keys"] = seen
    found["active"] = browser.value("document.getElementById('timeline').getAttribute('aria-activedescendant')")
    browser.key("Enter")
    found["focus after Enter"] = browser.value("document.activeElement.id")
    browser.key("Escape")
    found["focus after Escape"] = browser.value("document.activeElement.id")
    browser.key("Escape")
    found["selection after Escape"] = browser.value("document.querySelectorAll('.block[aria-selected=true]').length")
    # Names as they are: no element is made of one.
    found["markup"] = browser.value("document.querySelectorAll('img, svg, iframe, script:not([type])').length")
    found["has run"] = browser.value("String(window.hasRun)")
    found["roles"] = browser.value("""[...new Set([...document.querySelectorAll('[role]')].map((one) => one.role))].sort().join(' ')""")
    found["unnamed"] = browser.value("""[...document.querySelectorAll('.block[role=gridcell]')].filter((one) => !one.ariaLabel).length""")
    return found


def column(browser):
    """The locations of the selected variable, from the first one on."""
    browser.value("document.getElementById('timeline').focus()")
    seen = [browser.value("document.getElementById('status').textContent")]
    while len(seen) < 2 or seen[-1] != seen[-2]:
        browser.key("ArrowDown")
        seen.append(browser.value("document.getElementById('status').textContent"))
    return {"seen": seen[:-1], "meaning": text(browser, "#details dl")}


def lanes(browser):
    """The place of a variable for two lanes; the first argument's hash chooses it."""
    places = []
    for lane in ["0", "5"]:
        browser.value(f"(() => {{ const one = document.getElementById('lane'); one.value = {lane};"
                      "one.dispatchEvent(new Event('input')); })()")
        places.append([text(browser, "#result"), text(browser, "#cells [aria-selected=true]"), text(browser, ".steps")])
    figure = """[...document.querySelectorAll('#details .figure .operation')].map((one) => one.textContent)"""
    return {"places": places, "hash": browser.value("location.hash"), "operations": browser.value(figure),
            "cells": browser.value("document.querySelectorAll('#details .figure rect').length")}


def search(browser):
    browser.value("document.getElementById('timeline').focus()")
    browser.key("/")
    found = {"focus": browser.value("document.activeElement.id")}
    browser.key("i", "i")
    found["results"] = browser.value("[...document.querySelectorAll('#results li')].map((one) => one.textContent)")
    browser.key("Enter")
    found["details"] = text(browser, "#details h2")
    found["filters"] = browser.value("[...document.querySelectorAll('#filter option')].map((one) => one.textContent)")
    found["columns"] = browser.value("document.querySelectorAll('#head .variable').length")
    browser.value("(() => { const one = document.getElementById('filter'); one.selectedIndex = 1;"
                  "one.dispatchEvent(new Event('change')); })()")
    browser.settle()
    found["filtered"] = browser.value("document.querySelectorAll('#head .variable').length")
    return found


def homes(browser):
    """Pcs and meaning of the locations of the function's variables."""
    browser.value("document.getElementById('timeline').focus()")
    script = """['pcs', 'meaning'].map((name) => [...document.querySelectorAll('#details dt')]
        .find((one) => one.textContent === name)?.nextElementSibling.textContent ?? '').join(': ')"""
    found = []
    for step in range(60):
        down = "ArrowDown" if step // 6 % 2 == 0 else "ArrowUp"
        browser.key("ArrowRight" if step % 6 == 0 else down)
        found.append(browser.value(script))
    return {"homes": sorted(set(found) - {": "})}


def looks(browser):
    """Colours in light, dark and print."""
    found = {}
    colours = "[document.body, document.querySelector('.block')].map((one) => getComputedStyle(one).backgroundColor).join(' ')"
    for scheme in ["light", "dark"]:
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        found[scheme] = browser.value(colours)
    patterns = "[...document.querySelectorAll('#kinds .block')].map((one) => getComputedStyle(one).background)"
    found["kinds"] = len(set(browser.value(patterns)))
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True, landscape=True)["data"])
    found["pages"] = pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page/") + pdf.count(b"/Type/Page/")
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.value("dispatchEvent(new Event('beforeprint'))")
    found["printed"] = browser.value("document.querySelectorAll('#printed tbody tr').length")
    found["hidden"] = browser.value("getComputedStyle(document.getElementById('functions')).display")
    return found


def narrow(browser):
    """The layout of a page with 400 pixels: the sizes of the parts, and how many columns of variables are seen."""
    found = {"wide": browser.value("document.querySelectorAll('#corner .instruction').length")}
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
    browser.settle()
    browser.settle()
    for part in ["functions", "timeline", "details", "gutter"]:
        found[part] = browser.value(f"""(() => {{ const box = document.getElementById('{part}').getBoundingClientRect();
            return [box.x, box.width, box.height].map(Math.round); }})()""")
    found["instructions"] = browser.value("document.querySelectorAll('#corner .instruction').length")
    found["scroll"] = browser.value("document.documentElement.scrollWidth")
    found["columns"] = browser.value("""(() => {
        const right = document.getElementById('timeline').getBoundingClientRect().right;
        const left = document.getElementById('gutter').getBoundingClientRect().right;
        return [...document.querySelectorAll('#head .variable')].map((one) => one.getBoundingClientRect())
            .filter((one) => one.left >= left - 1 && one.right <= right + 1).length; })()""")
    return found


def margins(browser):
    """Texts of the margin that are wider than their column, on a wide and on a narrow screen; the number of pcs that are
    seen; and how many columns of variables are whole."""
    found = []
    for width in [1280, 400]:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.settle()
        browser.settle()
        found.append(browser.value("""(() => {
            const textEnd = (one) => { const range = document.createRange(); range.selectNodeContents(one);
                return range.getBoundingClientRect().right; };
            const parts = [...document.querySelectorAll('#gutter .pc, #gutter .line')].filter((one) => one.textContent);
            const wide = parts.filter((one) => textEnd(one) > one.getBoundingClientRect().right - 4);
            const left = document.getElementById('gutter').getBoundingClientRect().right;
            const right = document.getElementById('timeline').getBoundingClientRect().right;
            const whole = [...document.querySelectorAll('#head .variable')].map((one) => one.getBoundingClientRect())
                .filter((one) => one.left >= left - 1 && one.right <= right + 1);
            return { wide: wide.map((one) => one.textContent), pcs: document.querySelectorAll('#gutter .pc').length,
                columns: whole.length, scroll: document.documentElement.scrollWidth }; })()"""))
    return found


def coverage(browser):
    """The line about the first function's coverage."""
    return text(browser, "#functions .function small")


def link(browser):
    """What a link to a variable selects."""
    return {"details": text(browser, "#details"), "hash": browser.value("location.hash"),
            "selected": browser.value("document.querySelectorAll('.block[aria-selected=true]').length")}


def scroll(browser):
    """Number of drawn elements, and milliseconds of a step of two frames, while all of it is scrolled in sixty steps; and
    the size of the table of entries, which is the fourth, before compression."""
    def step(number):
        return f"""(async () => {{
          const root = document.getElementById("timeline"), end = root.scrollHeight;
          root.scrollTo({number} * root.scrollWidth / 60, {number} * end / 60);
          await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
          return [root.querySelectorAll("*").length, end];
        }})()"""

    def busy():
        metrics = browser.call("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration") * 1000

    # Time of the thread: it does not count that of others on the machine.
    browser.call("Performance.enable", timeDomain="threadTicks")
    most, times, before = 0, [], busy()
    for number in range(60):
        drawn, height = browser.value(step(number))
        most, now = max(most, drawn), busy()
        times.append(now - before)
        before = now
    times.sort()
    packed = browser.value("document.getElementById('data').textContent")
    words = struct.unpack_from("<5I", zlib.decompress(base64.b64decode(packed)))
    return {"most": most, "height": height, "bytes of entries": 4 * words[4], "ms of a step": times[30], "ms of the longest": times[-1]}


def others(browser):
    """Number of findings outside functions: the table is the twelfth, with nine words a finding."""
    packed = browser.value("document.getElementById('data').textContent")
    words = struct.unpack_from("<13I", zlib.decompress(base64.b64decode(packed)))
    return words[12] // 9


def many(browser):
    """Number of findings in the details, before and after each use of the button for more."""
    counts = []
    for _ in range(3):
        counts.append(browser.value("document.querySelectorAll('#details li.finding').length"))
        browser.value("document.querySelector('#details button:not([hidden])')?.click()")
    return counts


QUESTIONS = {"many": many, "tour": tour, "column": column, "lanes": lanes, "search": search, "homes": homes, "looks": looks, "scroll": scroll,
             "others": others, "narrow": narrow, "margins": margins, "coverage": coverage, "link": link, "picture": lambda _: {}}


def main():
    page, question = sys.argv[1:3]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            seconds = browser.open(page)
            if os.environ.get("EITRI_SCHEME"):
                browser.call("Emulation.setEmulatedMedia",
                             features=[{"name": "prefers-color-scheme", "value": os.environ["EITRI_SCHEME"]}])
            answer = QUESTIONS[question](browser)
            if len(sys.argv) > 3:
                browser.settle()
                browser.picture(sys.argv[3])
            print(json.dumps({"answer": answer, "seconds": seconds, "messages": browser.messages(),
                              "requests": browser.requests()}))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
