"""The promises of the playground, in headless chromium.

Expectations are arithmetic by hand on the machines of the examples, and counts about objects that other tests take from
other tools. With EITRI_PICTURES=FOLDER, pictures of the page are written.
"""

import json
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import playground  # noqa: E402
import trap  # noqa: E402
from playground import ROOT, WIDTHS, opened  # noqa: E402

OBJECTS = ROOT / "tests/objects"

setUpModule = playground.start
tearDownModule = playground.end

# The lane in focus is 3; lane k of v0 has 100 + k, and of v1 200 + k.
RESULTS = {
    "3.2.1 Size of an array": "value 0x2a",
    "3.2.2 In a register": "bytes 30 31 32 33",
    # 0x1008 + 0x10
    "3.2.3 In memory": "mem:0:0x1018, bytes 58 59 5a 5b",
    "3.2.4 In several locations": "bytes 30 31 32 33 -- -- 50 51",
    "3.2.5 An offset into those": "ill-formed",
    # The member after four bytes.
    "3.2.6 Pointer to member": "mem:0:0xff04, bytes 09 00 00 00",
    "3.2.6 Pointer to member, in a register": "ill-formed",
    # The table is at 0x3018 - 24; the base is 8 bytes after 0x2000.
    "3.2.7 Virtual base class": "mem:0:0x2008, bytes 2b",
    "4.3.1 Spilled to a lane": "bytes 69 00 00 00",
    "4.3.2 In two vector registers": "bytes 67 00 00 00 cb 00 00 00",
    "4.3.3 In several kinds of locations": "bytes 67 00 00 00 5a 5b 0d f0",
    "4.3.4 Address spaces": "bytes 4c 4d 4e 4f",
    # 0x76543210 >> 20 is 0x765.
    "4.3.5 Bit offsets": "bytes 65 b:----0111",
    "3.2.5 again, with locations on the stack": "bytes -- 50 51",
    "3.2.6 again: the object in a register": "bytes 01 00 00 00",
    "3.2.7 again: an object that is not there": "bytes 2a",
    # Lane 3 is in the mask 0xf.
    "4.6 Selected by a mask": "bytes cb 00 00 00",
    "4.7 In two places at once": "bytes 54 76",
    "push_lane": "bytes 67 00 00 00",
    "overlay": "bytes 40 41 42 43 64 00 00 00 65 00 00 00 4c 4d 4e 4f",
    "composite": "bytes 10 11 20 21",
    "mem": "bytes 74 75 76 77",
    "mod_floor": "value 0x1, type signed/64",
}


class Expressions(unittest.TestCase):
    def test_examples_have_results_of_arithmetic(self):
        page = opened()
        names = page.value("[...document.querySelectorAll('#example optgroup option')].map((option) => option.text)")
        self.assertEqual(names, list(RESULTS))
        for name, expected in RESULTS.items():
            page.example(name)
            result = page.text("#result")
            self.assertTrue(result.endswith(expected) or expected == "ill-formed" and expected in result, f"{name}: {result}")
            is_error = page.value("document.getElementById('result').className") == "error"
            self.assertEqual(is_error, expected == "ill-formed", name)
            # The list shows the example that the state is.
            self.assertEqual(page.value("document.getElementById('example').selectedOptions[0].text"), name)
        self.assertEqual(page.messages(), [])
        self.assertEqual(page.sent(), [])

    def test_steps_have_pictures(self):
        page = opened()
        page.example("4.3.1 Spilled to a lane")
        self.assertEqual(page.texts("#operations a"), ["regx v0", "offset_uconst 20"])
        titles = page.value("[...document.querySelectorAll('#steps .picture')].map((picture) => picture.ariaLabel)")
        self.assertEqual(titles, ["1  regx v0", "2  offset_uconst 20  (result)"])
        # Lane 5 of the register is bits 160 to 191.
        fills = page.value("""[...document.querySelectorAll('#steps > li')].map((step) =>
            [...step.querySelectorAll('.part:last-child g.fill')].map((fill) => [fill.dataset.from, fill.dataset.bits]))""")
        self.assertEqual(fills[0][0], ["0", "32"])
        self.assertEqual(fills[1][0], ["160", "32"])
        box = page.value("(({width, height}) => [width, height])(document.querySelector('#step-2 .part:last-child g.fill').getBoundingClientRect())")
        self.assertTrue(min(box) > 4, f"the fill is not seen: {box}")

    def test_lanes_have_their_elements(self):
        # The first example.
        page = opened()
        self.assertEqual(page.value("document.getElementById('example').selectedOptions[0].text"), "4.3.2 In two vector registers")
        lanes = page.texts("#lanes li")
        self.assertEqual(len(lanes), 32)
        for lane, text in enumerate(lanes):
            low, high = 100 + lane, 200 + lane
            self.assertTrue(text.startswith(f"lane {lane} "), text)
            self.assertIn(f"bytes {low:02x} 00 00 00 {high:02x} 00 00 00", text)
            self.assertIn(f"= {high << 32 | low}", text)
        page.click("#lanes li:nth-child(8) button")
        page.ready()
        self.assertTrue(page.text("#result").endswith("bytes 6b 00 00 00 cf 00 00 00"), page.text("#result"))
        self.assertEqual(page.value("JSON.parse(document.getElementById('machine').value).lane"), 7)
        self.assertEqual(page.texts("#lanes li.current button"), ["lane 7"])
        # The page about the playground shows the same.
        described = (ROOT / "docs/playground.md").read_text()
        for text in [page.text("#result"), page.value("document.getElementById('text').value")]:
            self.assertIn(f"\n{text}\n", described)
        page.example("4.3.1 Spilled to a lane")
        lanes = page.texts("#lanes li")
        self.assertEqual(len(lanes), 1)
        self.assertTrue(lanes[0].startswith("lanes 0–31 ") and "= 105" in lanes[0], lanes[0])
        page.example("4.6 Selected by a mask")
        numbers = [int(text.split("= ")[1].split()[0]) for text in page.texts("#lanes li")]
        self.assertEqual(numbers, [200 + lane if lane < 4 else 100 + lane for lane in range(32)])

    def test_bytes_are_the_same_as_text(self):
        page = opened()
        page.example("4.3.1 Spilled to a lane")
        # DW_OP_regx (0x90) of v0, which has the number 1536 in waves of 32 lanes: 12 * 128; DW_OP_LLVM_user (0xe9),
        # DW_OP_LLVM_offset_uconst (5), 20.
        self.assertIn("90 80 0c e9 05 14", page.texts("#answer dd"))
        page.fill("#text", "90 80 0c\n E9 0514")
        self.assertTrue(page.text("#result").endswith("bytes 69 00 00 00"), page.text("#result"))
        self.assertIn("regx v0; offset_uconst 20", page.texts("#answer dd"))
        page.fill("#text", "908")
        self.assertIn("is not a list of bytes", page.text("#result"))

    def test_registers_are_edited_in_the_table(self):
        page = opened()
        page.example("push_lane")
        self.assertEqual(page.value("document.querySelector('#registers .number').value"), "0x67")
        page.fill("#registers .number", "-2")
        self.assertTrue(page.text("#result").endswith("bytes fe ff ff ff"), page.text("#result"))
        stored = page.value("JSON.parse(document.getElementById('machine').value).registers.v0").split()
        self.assertEqual(stored[8:20], "66 00 00 00 fe ff ff ff 68 00 00 00".split())
        # What does not fit is marked, and changes nothing.
        page.fill("#registers .number", "0x100000000")
        self.assertTrue(page.value("document.querySelector('#registers .number').matches(':invalid')"))
        self.assertTrue(page.text("#result").endswith("bytes fe ff ff ff"))
        # Two's complement: -2^31 is the lowest number of 32 bits, and the page writes it and the number below.
        for typed, expected in [("-0x80000000", "00 00 00 80"), ("-1", "ff ff ff ff"), ("-0", "00 00 00 00"), (" 4294967294 ", "fe ff ff ff")]:
            page.fill("#registers .number", typed)
            self.assertTrue(page.text("#result").endswith(f"bytes {expected}"), f"{typed}: {page.text('#result')}")
        for wrong in ["-2147483649", "-3000000000", "-", "", "--1", "1.5"]:
            page.fill("#registers .number", wrong)
            self.assertTrue(page.value("document.querySelector('#registers .number').matches(':invalid')"), wrong)
            self.assertTrue(page.text("#result").endswith("bytes fe ff ff ff"), wrong)
        page.fill("#registers .bytes", "01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10")
        self.assertTrue(page.text("#result").endswith("bytes 0d 0e 0f 10"), page.text("#result"))
        page.fill("#registers .name", "v9", "change")
        self.assertIn("error", page.value("document.getElementById('result').className"))
        page.fill("#text", "regx v9; push_lane; lit4; mul; offset")
        self.assertTrue(page.text("#result").endswith("bytes 0d 0e 0f 10"), page.text("#result"))
        page.click("#add")
        page.ready()
        self.assertEqual(page.value("document.querySelectorAll('#registers tbody tr').length"), 2)
        page.click("#registers tbody tr:nth-child(1) button")
        page.ready()
        self.assertIn("error", page.value("document.getElementById('result').className"))

    def test_link_holds_the_state(self):
        page = opened()
        page.example("4.3.3 In several kinds of locations")
        page.fill("#lane", "4")
        page.fill("#read", "48")
        fragment = page.value("location.hash")
        fields = ["text", "target", "dialect", "kind", "read", "machine"]
        read = lambda: [page.value(f"document.getElementById('{field}').value") for field in fields]
        before = read()
        again = opened(playground.url + fragment)
        # 104, and the memory.
        self.assertTrue(again.text("#result").endswith("bytes 68 00 00 00 5a 5b"), again.text("#result"))
        self.assertEqual(read(), before)
        # A link that is pasted into the open page.
        again.value("location.hash = '#e=lit5&k=value&t=x86_64'")
        again.ready()
        self.assertTrue(again.text("#result").endswith("value 0x5"), again.text("#result"))
        # A link of somebody else is text.
        again.value("location.hash = '#' + new URLSearchParams({e: '<img src=x onerror=hasRun=1>', t: '<b>', m: '</textarea><script>hasRun=1</script>'})")
        again.ready()
        self.assertIn("error", again.value("document.getElementById('result').className"))
        self.assertEqual(again.value("[typeof hasRun, document.querySelectorAll('img').length]"), ["undefined", 0])

    def test_mistakes_are_named(self):
        page = opened()
        page.fill("#text", "regx v0; ofset_uconst 20")
        self.assertIn("ofset_uconst", page.text("#result"))
        page.example("4.3.1 Spilled to a lane")
        page.fill("#target", "amdgpu-gfx1031-wave33")
        self.assertIn("amdgpu-gfx1031-wave33", page.text("#result"))
        page.fill("#target", "amdgpu-gfx1030-wave32")
        page.fill("#machine", '{\n  "lane": 1,\n  "regsters": {}\n}')
        self.assertIn("line 3", page.text("#result"))
        page.fill("#machine", "{")
        self.assertIn("error", page.value("document.getElementById('result').className"))
        self.assertTrue(page.value("document.getElementById('add').disabled"))
        page.example("4.3.1 Spilled to a lane")
        self.assertTrue(page.text("#result").endswith("bytes 69 00 00 00"))

    def test_machine_has_a_target_of_its_own(self):
        page = opened()
        page.fill("#machine", json.dumps({
            "target": {"name": "generic", "address_size": 8, "offset_size": 4, "endian": "little",
                       "registers": [{"dwarf": 7, "name": "acc", "bits": 16}]},
            "machine": {"registers": {"acc": "34 12"}}}))
        page.fill("#dialect", "dwarf5")
        page.fill("#read", "16")
        page.fill("#text", "reg7")
        self.assertTrue(page.text("#result").endswith("bytes 34 12"), page.text("#result"))

    def test_endless_expression_ends(self):
        page = opened()
        page.example("4.3.1 Spilled to a lane")
        # DW_OP_skip (0x2f) back to itself.
        page.fill("#text", "2f fd ff")
        self.assertIn("error", page.value("document.getElementById('result').className"))
        page.example("4.3.1 Spilled to a lane")
        self.assertTrue(page.text("#result").endswith("bytes 69 00 00 00"))

    def test_trap_gives_a_message_and_a_new_instance(self):
        built = Path(playground.folder.name) / "trap"
        program = Path(playground.folder.name) / "trap.wasm"
        program.write_bytes(trap.module())
        subprocess.run([sys.executable, ROOT / "bindings/wasm/build.py", built, "--module", program], check=True, stdout=subprocess.DEVNULL)
        page = opened(f"file://{built}/index.html#e=&m={{}}&t=x")
        self.assertEqual(page.text("#result"), "a short question")
        page.fill("#text", "a" * 600)
        self.assertIn("has a fault", page.text("#result"))
        page.fill("#text", "a")
        self.assertEqual(page.text("#result"), "a short question")


class Objects(unittest.TestCase):
    def counts(self, name):
        lines = [line.split("\t") for line in (OBJECTS / "counts.tsv").read_text().splitlines()]
        return {code: int(count) for file, code, count in lines[1:] if file == name}

    def dropped(self, name):
        page = opened()
        page.drop(OBJECTS / name)
        page.wait("!document.getElementById('drawn').hidden")
        return page

    def test_dropped_object_has_its_findings(self):
        name = "llvm19/h13_templ.gfx900.O2.hsaco"
        page = self.dropped(name)
        self.assertFalse(page.value("document.getElementById('object').hidden"))
        expected = self.counts(name)
        entries = expected.pop("entries")
        self.assertIn(f"{entries} location entries", page.text("#summary"))
        self.assertIn("gfx900", page.text("#summary"))
        found = {}
        for item in page.texts("#findings li"):
            code = item.split(": ")[1].split()[0]
            more = [int(word) for word, after in zip(item.split(), item.split()[1:]) if word.isdigit() and after.startswith("finding")]
            found[code] = found.get(code, 0) + 1 + sum(more)
        self.assertEqual({code: found.get(code, 0) for code in expected}, expected)
        self.assertEqual(page.sent(), [])
        self.assertEqual(page.messages(), [])

    def test_report_is_drawn_and_can_be_used(self):
        page = self.dropped("llvm19/h13_templ.gfx900.O2.hsaco")
        for _ in range(200):
            if page.in_frame("document.documentElement.dataset.ready") == "true":
                break
            time.sleep(0.1)
        self.assertGreater(page.in_frame("document.querySelectorAll('#functions .function').length"), 0)
        self.assertGreater(page.in_frame("document.querySelectorAll('#cells .block').length"), 0)
        page.in_frame("document.querySelector('#cells .block[role=gridcell]').click()")
        self.assertTrue(page.in_frame("location.hash.length > 1"))
        self.assertEqual(page.messages(), [])
        self.assertTrue(page.value("document.getElementById('save').href.startsWith('blob:')"))

    def test_module_has_findings_and_no_report(self):
        # `DebugValue` of a variable of `width` in code whose scope is `main`, at word 1287.
        page = opened()
        page.drop(ROOT / "tests/spirv/foreign/glslang.opt.spv")
        page.wait("document.getElementById('state').textContent.includes(' bytes')")
        [finding] = page.texts("#findings li")
        for expected in ["foreign-variable", "main", "range"]:
            self.assertIn(expected, finding)
        self.assertIn("SPIR-V", page.text("#summary"))
        self.assertTrue(page.value("document.getElementById('drawn').hidden"))
        self.assertEqual(page.messages(), [])

    def test_members_of_a_bundle_are_chosen(self):
        page = self.dropped("containers/k06.hipfb")
        names = page.texts("#member option")
        self.assertTrue(any("gfx" in name for name in names), names)
        self.assertIn("gfx", page.text("#summary"))

    def test_expression_of_a_finding_is_evaluated(self):
        page = self.dropped("llvm19/h13_templ.gfx900.O2.hsaco")
        expression = page.text("#findings li:has(button) code")
        page.click("#findings li:has(button) button")
        page.ready()
        self.assertFalse(page.value("document.getElementById('expression').hidden"))
        self.assertEqual(page.value("document.getElementById('text').value"), expression)
        self.assertIn(expression, page.texts("#answer dd"))

    def test_wrong_files_are_named_and_the_page_stays(self):
        page = opened()
        good = (OBJECTS / "llvm19/h13_templ.gfx900.O2.hsaco").read_bytes()
        for name, contents in [("empty", b""), ("text.txt", b"no object\n" * 50), ("cut.hsaco", good[:2000])]:
            page.drop(name, contents)
            page.wait(f"document.getElementById('state').textContent.startsWith({json.dumps(name + ':')})")
        page.drop(OBJECTS / "llvm19/h13_templ.gfx900.O2.hsaco")
        page.wait("!document.getElementById('drawn').hidden")
        self.assertEqual(page.messages(), [])

    def test_work_is_stopped_and_starts_again(self):
        page = opened()
        page.value("""new MutationObserver((_, observer) => {
            if (!document.getElementById("state").textContent.startsWith("Diagnosing")) return;
            observer.disconnect();
            document.getElementById("stop").click();
          }).observe(document.getElementById("state"), {childList: true})""")
        page.drop(OBJECTS / "llvm19/h13_templ.gfx900.O2.hsaco")
        page.wait("document.getElementById('state').textContent.endsWith(': stopped')")
        self.assertTrue(page.value("document.getElementById('found').hidden"))
        page.drop(OBJECTS / "llvm19/h13_templ.gfx900.O2.hsaco")
        page.wait("!document.getElementById('drawn').hidden")


def luminance(colour):
    """The relative luminance of `rgb(…)`: WCAG 2.1."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip([0.2126, 0.7152, 0.0722], linear, strict=True))


class Whole(unittest.TestCase):
    def test_tabs_are_used_by_keys(self):
        # The keys are those of the pattern "Tabs" of WAI-ARIA, whose tabs are selected with the focus.
        page = opened()
        tabs = """[...document.querySelectorAll('[role=tab]')].map((tab) =>
            [tab.getAttribute('aria-selected'), tab.tabIndex, tab === document.activeElement])"""
        first, second = [["true", 0, True], ["false", -1, False]], [["false", -1, False], ["true", 0, True]]
        page.value("document.getElementById('tab-expression').focus()")
        self.assertEqual(page.value(tabs), first)
        for key, expected in [
            ("ArrowRight", second), ("ArrowRight", first), ("ArrowLeft", second), ("Home", first), ("End", second),
            ("ArrowUp", second), ("ArrowLeft", first),
        ]:
            page.key(key)
            self.assertEqual(page.value(tabs), expected, key)
            shown = page.value("[...document.querySelectorAll('[role=tabpanel]')].map((panel) => panel.hidden)")
            self.assertEqual(shown, [expected == second, expected == first], key)
        page.click("#tab-object")
        self.assertEqual([tab[:2] for tab in page.value(tabs)], [tab[:2] for tab in second])

    def test_borders_of_controls_are_seen(self):
        # WCAG 2.1, 1.4.11: 3 to 1 between what shows a control and what is around it.
        page = opened()
        page.example("4.3.2 In two vector registers")
        for scheme in ["light", "dark"]:
            page.scheme(scheme)
            pairs = page.value("""[...document.querySelectorAll('input, select, textarea, button:not([role=tab]):not(#lanes button), #operations a, .drop')]
                .map((control) => {
                    let around = control.parentElement;
                    const back = (element) => getComputedStyle(element).backgroundColor;
                    while (/, 0\\)$/.test(back(around))) around = around.parentElement;
                    return [control.id || control.className || control.tagName, getComputedStyle(control).borderTopColor, back(around), back(control)];
                })""")
            self.assertGreater(len(pairs), 20)
            for name, border, around, inside in pairs:
                for other in [around, inside]:
                    low, high = sorted([luminance(border), luminance(other)])
                    self.assertGreaterEqual((high + 0.05) / (low + 0.05), 3, f"{name}, {scheme}: {border} on {other}")

    def test_folder_is_small(self):
        self.assertLess(playground.size, 3_000_000)

    def test_nothing_can_be_sent(self):
        page = opened()
        refused = "fetch('http://localhost:9/').then(() => 'sent', (problem) => String(problem))"
        self.assertIn("Failed to fetch", page.value(refused))
        blocked = [message for message in page.messages() if "Content Security Policy" in json.dumps(message)]
        self.assertTrue(blocked, page.messages())

    def test_page_fits_wide_and_narrow_in_light_and_dark(self):
        colours = {}
        for width in WIDTHS:
            page = opened(width=width)
            for scheme in ["light", "dark"]:
                page.scheme(scheme)
                colours[scheme] = page.value("getComputedStyle(document.body).backgroundColor")
                for number, name in enumerate(["4.3.3 In several kinds of locations", "3.2.5 An offset into those", "overlay"]):
                    page.example(name)
                    self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width, f"{name}, {scheme}")
                    page.shoot(f"expression{number}-{width}-{scheme}")
            page.scheme("light")
            page.drop(OBJECTS / "llvm19/h13_templ.gfx900.O2.hsaco")
            page.wait("!document.getElementById('drawn').hidden")
            page.value("new Promise((go) => setTimeout(go, 1500))")
            for scheme in ["light", "dark"]:
                page.scheme(scheme)
                self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width, f"an object, {scheme}")
                page.shoot(f"object-{width}-{scheme}")
                # The report is drawn where it is seen.
                page.value("document.getElementById('drawn').scrollIntoView()")
                page.value("new Promise((go) => setTimeout(go, 1000))")
                page.shoot(f"report-{width}-{scheme}", whole=False)
                page.value("scrollTo(0, 0)")
        self.assertNotEqual(colours["light"], colours["dark"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
