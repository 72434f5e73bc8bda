"""Links between the pages of the documentation lead somewhere, to the heading too."""

import os
import re
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text: str) -> set:
    """As GitHub makes them of headings; and those that are written as <a id=...>."""
    found = set(re.findall(r'<a id="([^"]+)">', text))
    code = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for heading in re.findall(r"^#+ (.*)$", code, flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        name = plain.replace(" ", "-")
        number = 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def pages() -> list:
    found = [os.path.join(ROOT, "README.md")]
    for folder, _, files in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.join(folder, file) for file in files if file.endswith(".md")]
    return found


def broken(page: str, text: str) -> list:
    faults = []
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(file):
            faults.append(f"{os.path.relpath(page, ROOT)}: {target}: there is no such file")
        elif anchor and file.endswith(".md"):
            with open(file, encoding="utf-8") as other:
                if anchor not in anchors(other.read()):
                    faults.append(f"{os.path.relpath(page, ROOT)}: {target}: there is no such heading")
    return faults


class Links(unittest.TestCase):
    def test_a_broken_link_is_found(self):
        page = os.path.join(ROOT, "docs", "python.md")
        self.assertEqual(len(broken(page, "[a](none.md) [b](design.md#none) `[c](no.md)` [d](design.md#folders)")), 2)

    def test_every_link_leads_somewhere(self):
        faults = []
        for page in pages():
            with open(page, encoding="utf-8") as file:
                faults += broken(page, file.read())
        self.assertEqual(faults, [])


if __name__ == "__main__":
    unittest.main()
