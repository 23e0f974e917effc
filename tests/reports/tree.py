"""A page as a tree, read by the parser of the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "hr", "link", "img", "wbr"}


@dataclass
class Node:
    """An element."""

    name: str
    attributes: dict[str, str | None]
    children: list[Node | str] = field(default_factory=list)

    def all(self, name: str | None = None) -> list[Node]:
        """Elements below, in the order of the page."""
        found = []
        for child in self.children:
            if isinstance(child, Node):
                if name is None or child.name == name:
                    found.append(child)
                found += child.all(name)
        return found

    def one(self, key: str) -> Node:
        """The element of an id."""
        found = [node for node in self.all() if node.attributes.get("id") == key]
        assert len(found) == 1, f"{len(found)} elements have the id {key}"
        return found[0]

    def of_class(self, css: str) -> list[Node]:
        """Elements with a class."""
        return [n for n in self.all() if css in (n.attributes.get("class") or "").split()]

    @property
    def text(self) -> str:
        """All text inside."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(text: str) -> Node:
    """The tree of a page; every element must be closed where it should be."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].name}> is not closed"
    return reader.root
