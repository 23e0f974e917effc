"""How often selections with a stated rate of false discoveries are wrong, on data of known truth.

    python -m tools.discoveries --settings quick|all --seconds N --jobs 16 --out FOLDER
                                [--only METHOD ...] [--match TEXT ...] [--peers]
                                [--repeats 400] [--enough 40]
    python -m tools.discoveries --table FOLDER

A repetition draws a table from a design (independent, autoregressive, blocks, factors) and a target
from a signal (linear, logistic, xor, radial, sparse, or nothing at all), and lets a method select.
A cell is a setting and a method. All cells get ``--enough`` repetitions, then the quickest ones
``--repeats`` first; those of one seed see the same data, and methods that read the same fit in
several ways share it. Outcomes are appended to FOLDER one by one: a run that is cut off
leaves a table, and another run with the same FOLDER goes on where it ended.

Two truths are counted: a feature is *wrong* if it is not in the model of the target, and
*unrelated* if it is, besides, (nearly) independent of every feature that is. Methods that look at
one feature at a time promise something about the latter only.
"""

from tools.discoveries.data import DESIGNS, SIGNALS, Setting, Truth, draw, settings
from tools.discoveries.methods import METHODS, known_methods, suits
from tools.discoveries.runs import Outcome, read_outcomes, repeat, run
from tools.discoveries.tables import by_method, summary, table

__all__ = [
    "DESIGNS",
    "METHODS",
    "SIGNALS",
    "Outcome",
    "Setting",
    "Truth",
    "by_method",
    "draw",
    "known_methods",
    "read_outcomes",
    "repeat",
    "run",
    "settings",
    "suits",
    "summary",
    "table",
]
