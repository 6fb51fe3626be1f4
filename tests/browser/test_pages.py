"""Pages as Chromium shows them: nothing is missing, nothing is fetched, nothing is wider than a phone."""

import io
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

FERROSZ = shlex.split(os.environ["FERROSZ"])
PICTURES = Path(os.environ["PICTURES"])
BOOK = os.environ.get("BOOK")

# The width and height of a phone and of a screen, in CSS pixels.
PHONE, SCREEN = (390, 844), (1280, 900)

# What a page has that is wrong: pictures that are not drawn, and elements that make the page wider than the window.
FAULTS = """
const wide = [...document.querySelectorAll('body *')].filter(element => {
    for (let at = element; at; at = at.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(at).overflowX)) return false;
    return element.getBoundingClientRect().right > window.innerWidth + 1;
});
return {
    missing: [...document.images].filter(image => !image.complete || !image.naturalWidth).length,
    pictures: document.querySelectorAll('img, svg:has(> image, > use)').length,
    charts: [...document.querySelectorAll('figure svg')].filter(svg => svg.getBoundingClientRect().height > 40).length,
    fetched: performance.getEntriesByType('resource').map(entry => entry.name)
        .filter(name => !name.startsWith('data:') && !name.startsWith('file:')),
    wider: document.documentElement.scrollWidth - window.innerWidth,
    wide: wide.slice(0, 3).map(element => element.outerHTML.slice(0, 120)),
};
"""

# Which choices of each set are shown.
SHOWN = """
return [...document.querySelectorAll('.choices')].map(set =>
    [...set.querySelectorAll(':scope > .choice')].map(choice => getComputedStyle(choice).display !== 'none'));
"""


def fields():
    """Fields of two, three and four axes, with missing values, integers and halves among them; by their names."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:90, 0:180]
    image = (np.sin(y / 9) * np.cos(x / 13) + 0.01 * rng.standard_normal(y.shape)).astype(np.float32)
    volume = np.cumsum(rng.standard_normal((20, 40, 60)), axis=2).astype(np.float32)
    volume[:, 10:20, 5:30] = np.nan
    counts = rng.integers(0, 3000, (3, 4, 30, 31)).astype(np.int16)
    return {"image": image, "volume": volume, "counts": counts, "line": np.cumsum(rng.standard_normal(5000))}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--allow-file-access-from-files",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        cls.addClassCleanup(cls.browser.quit)
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def look(self, page, size, name, scheme="light"):
        """Loads a page in a window of this size, and returns what FAULTS finds."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.browser.get(page.as_uri())
        self.browser.save_screenshot(str(PICTURES / f"{name}.png"))
        log = [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(log, [])
        return self.browser.execute_script(FAULTS)

    def judge(self, page, name):
        """Judges a page on a phone and on a screen; returns what it has on a screen."""
        for size, kind, scheme in ((PHONE, "phone", "light"), (SCREEN, "dark", "dark"), (SCREEN, "screen", "light")):
            with self.subTest(page=name, size=kind):
                found = self.look(page, size, f"{name}-{kind}", scheme)
                self.assertEqual(found["missing"], 0)
                self.assertEqual(found["fetched"], [])
                self.assertLessEqual(found["wider"], 0, found["wide"])
        return found

    def report(self, name, field, *bound):
        original, page = (self.folder / f"{name}{suffix}" for suffix in (".npy", ".html"))
        np.save(original, field)
        bound = bound or (["--abs", "1"] if field.dtype.kind == "i" else ["--range", "1e-3"])
        arguments = ["report", original, *bound, "-o", page]
        subprocess.run([*FERROSZ, *map(str, arguments)], check=True, capture_output=True)
        return page

    def test_reports(self):
        for name, field in fields().items():
            page = self.report(name, field)
            found = self.judge(page, name)
            self.assertGreaterEqual(found["charts"], 6, name)
            if field.ndim > 1:
                self.assertGreaterEqual(found["pictures"], 3, name)
            self.assertEqual(len(list(self.choose(name))) > 0, field.ndim > 1, name)
            words = self.browser.find_element(By.TAG_NAME, "main").text
            self.assertIn(str(field.shape[-1]), words)

    def choose(self, name):
        """Chooses each slice, and expects that it alone is shown; yields each."""
        for number, group in enumerate(self.browser.find_elements(By.CSS_SELECTOR, ".choices")):
            choices = group.find_elements(By.CSS_SELECTOR, ":scope > .choice")
            for n, label in enumerate(group.find_elements(By.CSS_SELECTOR, ":scope > label")):
                self.browser.execute_script("arguments[0].click()", label)
                shown = self.browser.execute_script(SHOWN)[number]
                self.assertEqual(shown, [at == n for at in range(len(shown))], f"{name}, choice {n}")
                yield choices[n]

    def pixels(self, element):
        """How bright the pixels of an element are."""
        return np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("L"), dtype=float)

    def test_originals_are_the_slices(self):
        """Each set of choices has the original that NumPy has, wherever the page contains it. Viridis brightens with the value."""
        z, y, x = np.mgrid[0:20, 0:40, 0:60]
        field = (3 + np.sin(z / 5) * np.cos(y / 9) + np.cos(x / 11)).astype(np.float32)
        page = self.report("sets", field, "--range", "1e-2,1e-3,1e-4")
        self.judge(page, "sets")
        drawn = []
        for choice in self.choose("sets"):
            image = choice.find_element(By.CSS_SELECTOR, "svg[role=img]")
            name = image.get_attribute("aria-label").removeprefix("Original at ")
            index = name.strip("[]").split(", ")
            expected = field[tuple(slice(None) if part == ":" else int(part) for part in index)]
            pixels = self.pixels(image)
            rows, columns = ((np.arange(n) + 0.5) * m / n for n, m in zip(expected.shape, pixels.shape, strict=True))
            found = pixels[np.ix_(rows.astype(int), columns.astype(int))]
            self.assertGreater(np.corrcoef(found.ravel(), expected.ravel())[0, 1], 0.98, name)
            drawn.append(name)
        self.assertGreaterEqual(len(drawn), 3 * 6)
        self.assertEqual(page.read_text().count("<image id="), len(set(drawn)))

    def test_bodies_are_in_their_boxes(self):
        """A ball at one corner is drawn there, in the original and in the reconstruction; nothing is at the other corners."""
        z, y, x = np.mgrid[0:40, 0:40, 0:40]
        field = -np.sqrt((z - 30.0) ** 2 + (y - 10) ** 2 + (x - 10) ** 2).astype(np.float32)
        self.judge(self.report("ball", field, "--range", "1e-2"), "ball")
        bodies = self.browser.find_elements(By.CSS_SELECTOR, "svg[aria-label^=Isosurface]")
        self.assertEqual(len(bodies), 2)
        for body in bodies:
            pixels = self.pixels(body)
            rows, columns = np.nonzero(np.abs(pixels - np.median(pixels)) > 40)
            self.assertGreater(len(rows), 0.05 * pixels.size)
            # Up and to the left.
            self.assertLess(np.mean(rows), 0.5 * pixels.shape[0])
            self.assertLess(np.mean(columns), 0.5 * pixels.shape[1])

    @unittest.skipIf(BOOK is None, "BOOK is not given")
    def test_book(self):
        for page in sorted(Path(BOOK).glob("book/*.html")):
            self.judge(page.resolve(), f"book-{page.stem}")


if __name__ == "__main__":
    unittest.main()
