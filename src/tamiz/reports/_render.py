"""The report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from tamiz.reports.language import find_language
from tamiz.reports.markup import Markup, tag, visible
from tamiz.reports.page import Page, Section
from tamiz.reports.sections import (
    card,
    data,
    drift,
    effects,
    errors,
    features,
    methods,
    plane,
    redundancy,
    repeat,
    stability,
    standing,
    summary,
)
from tamiz.runtime.checkpoint import write_whole
from tamiz.validation import checked, file_path

#: Makes a section of the page, or None where the study has nothing to show in it.
SectionBuilder = Callable[[Page], Section | None]

#: What was found.
_RESULTS: tuple[SectionBuilder, ...] = (
    summary.build,
    standing.build,
    errors.tradeoff,
    features.build,
    plane.build,
    effects.build,
    drift.build,
    redundancy.build,
    stability.build,
    card.build,
    errors.learning,
    errors.curves,
    errors.bias,
    methods.compared,
    methods.signal,
    methods.tuned,
    features.ranked,
)
#: What it was found with, after all results.
_BACKGROUND: tuple[SectionBuilder, ...] = (
    data.build,
    repeat.build,
    repeat.glossary,
)


@checked(path=file_path)
def write_report(
    study: Any,
    path: Any,
    *,
    lang: str = "en",
    title: str | None = None,
    sections: Sequence[SectionBuilder] = (),
) -> Path:
    """Write a study as one HTML file that opens without a network.

    Parameters
    ----------
    study : Study
        What :func:`tamiz.reports.make_study` found, or anything with its attributes.
    path : str or path
        The file. It is written beside its place and then moved there: a file that was there
        before is kept if anything goes wrong.
    lang : {"en", "es"}, default="en"
        Language of words and numbers.
    title : str, optional
        Heading of the report; the name of the data by default.
    sections : sequence of callables, optional
        Further sections, shown after the results of the library: each takes a
        :class:`tamiz.reports.page.Page` and returns a :class:`tamiz.reports.page.Section`, or None
        for no section.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    render : The same as text.

    Examples
    --------
    >>> import tempfile
    >>> from tamiz.data import load
    >>> from tamiz.filters import FisherScore
    >>> from tamiz.reports import Study, write_report
    >>> data = load("d8")
    >>> found = FisherScore(2).fit(data.X, data.y).selection_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(Study(data, {"fisher": found}), f"{folder}/report.html")
    ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    place = Path(path)
    text = render(study, lang, title=title, sections=sections)
    try:
        write_whole(place, text.encode("utf-8"))
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(
            f"the report cannot be written to {str(place)!r} ({why}). Name a file in a folder that "
            "exists and can be written to; what was there before is unchanged."
        ) from None
    return place


def render(
    study: Any,
    lang: str = "en",
    *,
    title: str | None = None,
    sections: Sequence[SectionBuilder] = (),
) -> str:
    """A study as the text of an HTML page.

    Parameters
    ----------
    study : Study
        What :func:`tamiz.reports.make_study` found, or anything with its attributes.
    lang : {"en", "es"}, default="en"
        Language of words and numbers.
    title : str, optional
        Heading of the report; the name of the data by default.
    sections : sequence of callables, optional
        Further sections, shown after the results of the library: each takes a
        :class:`tamiz.reports.page.Page` and returns a :class:`tamiz.reports.page.Section`, or None
        for no section.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from tamiz.data import load
    >>> from tamiz.filters import FisherScore
    >>> from tamiz.reports import Study, render
    >>> data = load("d8")
    >>> text = render(Study(data, {"fisher": FisherScore(2).fit(data.X, data.y).selection_}), "es")
    >>> '<html lang="es">' in text
    True
    """
    language = find_language(lang)
    for name in ("dataset", "selections"):
        if getattr(study, name, None) is None:
            raise TypeError(
                f"a report needs a study with dataset and selections; {type(study).__name__} has "
                f"no {name}. Make one with tamiz.reports.make_study."
            )
    page = Page(study, language)
    built = [build(page) for build in (*_RESULTS, *sections, *_BACKGROUND)]
    shown = [section for section in built if section is not None]
    key = "title_tuning" if page.only_tuned else "title"
    heading = visible(title or language(key, name=page.data.name or language("a_table")))
    parts = [_head(heading), _body(page, heading, shown)]
    return "<!doctype html>\n" + tag("html", parts, lang=language.code)


def _head(heading: str) -> Markup:
    """Style and script of the page, and the policy that allows these two and nothing else."""
    css, script = _file("report.css"), _file("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="tamiz"),
        tag("title", heading),
        tag("style", Markup(css)),
        tag("script", Markup(script)),
    )


def _body(page: Page, heading: str, sections: list[Section]) -> Markup:
    """Heading, table of contents, sections."""
    lang = page.lang
    titles = [section.title or lang(f"section_{section.key}") for section in sections]
    links = [
        tag("li", tag("a", title, href=f"#{section.key}"))
        for title, section in zip(titles, sections, strict=True)
    ]
    contents = tag(
        "nav",
        tag("p", lang("contents"), class_="what"),
        tag("ol", links),
        aria_label=lang("contents"),
    )
    body = [
        tag(
            "section",
            tag("h2", title, id=f"{section.key}-h"),
            section.body,
            id=section.key,
            aria_labelledby=f"{section.key}-h",
        )
        for title, section in zip(titles, sections, strict=True)
    ]
    return tag(
        "body",
        tag("a", lang("skip"), href="#main", class_="skip"),
        _top(page, heading),
        tag("div", contents, tag("main", body, id="main", tabindex="-1"), class_="columns"),
        tag("footer", tag("p", lang("footer"))),
        data_keys=lang("keys"),
        data_save=lang("save_picture"),
    )


def _top(page: Page, heading: str) -> Markup:
    """The heading, when the report was made, and the choice between light and dark."""
    lang = page.lang
    made = lang("made", version=(page.study.versions or {}).get("tamiz", ""))
    when = visible(page.study.created or "").partition("T")[0]
    button = tag(
        "button",
        lang("theme"),
        type="button",
        id="theme",
        class_="screen",
        data_texts="|".join(lang(f"theme_{kind}") for kind in ("auto", "light", "dark")),
    )
    fine = tag("p", " · ".join(filter(None, [when, made])), class_="fine")
    return tag("header", tag("div", tag("h1", heading), fine, class_="grow"), button)


def _file(name: str) -> str:
    return files("tamiz.reports").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
