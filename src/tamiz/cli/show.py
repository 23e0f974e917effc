"""``tamiz show``: what a kept model is, and where it comes from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tamiz.cli import options as opt


def show(
    model: Annotated[str, typer.Argument(help="File that tamiz wrote.")],
    json: opt.Json = False,
) -> None:
    """Show the card of a kept model: its data, features, columns and error.

    Example:  tamiz show model.tamiz
    """
    from tamiz.cli.console import say, say_json, usage

    with usage():
        from tamiz import load as read_model
        from tamiz.cli.table_model import TableModel

        found = read_model(model)
    kind = type(found).__name__
    if isinstance(found, TableModel):
        card = found.about()
        if json:
            say_json({"model": model, "kind": kind, **card})
        else:
            for line in _lines(card):
                say(line)
        return
    said = " ".join(repr(found).split())
    if json:
        say_json({"model": model, "kind": kind, "repr": said})
    else:
        say(
            f"{model} holds {said} of class {kind}, not a model that reads tables; load it in "
            "Python with tamiz.load."
        )


def _lines(card: dict[str, Any]) -> list[str]:
    """The card in lines of a name and what is known."""
    from tamiz.cli.console import number, percent

    features, columns = card["features"], card["columns"]
    used = list(dict.fromkeys(one["column"] for one in features))  # indicators of one, once
    judge = str(card["judge"])
    if card.get("params"):
        shown = ((k, number(v) if isinstance(v, float) else v) for k, v in card["params"].items())
        judge += f" ({', '.join(f'{key}={value}' for key, value in shown)})"
    rows = {
        "predicts": f"{card['target'] or 'the target'} ({card['task'] or 'classification'})",
        "classes": ", ".join(
            name if count is None else f"{name} ({count:,} rows)"
            for name, count in (card.get("classes") or {}).items()
        ),
        "fitted to": _joined(card.get("data"), f"{card['n_samples']:,} rows")
        if "n_samples" in card
        else "",
        "judge": judge,
        "features": f"{len(used):,}"
        + (f" (as {len(features):,} numbers)" if len(features) > len(used) else "")
        + (f", selected by {card['method']}" if card.get("method") else ""),
        "": ", ".join(used[:50]) + (f", and {len(used) - 50:,} more" if used[50:] else ""),
        "needs": f"{len(columns):,} columns of a table: {', '.join(columns[:50])}"
        + (", …" if columns[50:] else ""),
    }
    honest = card.get("honest")
    if honest is not None:
        form = number if card["task"] == "regression" else percent
        said = f"{honest.get('metric') or 'error'} {form(honest['error'])}"
        if honest.get("low") is not None and honest.get("high") is not None:
            said += f" ({form(honest['low'])} to {form(honest['high'])})"
        rows["expect"] = said + (f", by {honest['how']}" if honest.get("how") else "")
    rows["probabilities"] = card.get("probabilities") or ""
    rows["written"] = _joined(
        card.get("created"), f"by tamiz {card['tamiz']}" if "tamiz" in card else None
    )
    rows["command"] = card.get("command") or ""
    return [f"{name:<15}{text}".rstrip() for name, text in rows.items() if text]


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)
