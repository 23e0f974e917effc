"""Data sets by name: those that come along, those in a folder, those to be fetched.

``openml`` is the number of the set there, as public sources give it. Shape and class counts are
compared after every download, so that other data under that number are refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tamiz.data.column import Column, RawTable
from tamiz.data.errors import DataError
from tamiz.data.formats.frames import from_array, object_column
from tamiz.data.plan import ColumnPlan, Options, make_plan

SUFFIXES = (".csv.gz", ".npz", ".csv", ".parquet")

_D8 = [
    (170, 85, 0.011, +1),
    (147, 75, 0.340, -1),
    (150, 77, 0.034, -1),
    (154, 81, 0.092, -1),
    (175, 79, 0.065, +1),
    (152, 80, 0.358, -1),
    (173, 82, 0.360, +1),
    (177, 84, 0.757, +1),
]


def data_folder() -> Path | None:
    """The folder of data sets: TAMIZ_DATA, else ``shared/data`` beside a checkout of the source."""
    named = os.environ.get("TAMIZ_DATA")
    if named:
        path = Path(named).expanduser()
        if not path.is_dir():
            raise DataError(
                f"TAMIZ_DATA names {named!r}, which is not a folder; correct or unset it."
            )
        return path
    root = Path(__file__).resolve().parents[3]
    beside = root.parent / "shared" / "data"
    return beside if (root / "pyproject.toml").is_file() and beside.is_dir() else None


def find_file(name: str) -> Path | None:
    """The file of a named set, if there is one."""
    folder = data_folder()
    if folder is None:
        return None
    return next((p for s in SUFFIXES if (p := folder / f"{name}{s}").is_file()), None)


def read_bundled(entry: Named, options: Options) -> tuple[RawTable, ColumnPlan, list[str] | None]:
    """A set that needs no file; also the names of its classes."""
    if entry.name == "d8":
        array = np.array(_D8, dtype=float)[: options.nrows]
        y = Column("target", array[:, 3].copy())
        names = ["height", "weight", "noise"]
        table, plan = from_array(array[:, :3], names, [y], "tamiz", options, "target")
        return table, plan, ["short", "tall"]
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{entry.name}")()
    keep = slice(options.nrows)
    names = [str(name) for name in bunch.feature_names]
    y = Column("target", np.asarray(bunch.target, dtype=np.float64)[keep])
    table, plan = from_array(
        np.asarray(bunch.data)[keep], names, [y], "scikit-learn", options, "target"
    )
    classes = getattr(bunch, "target_names", None)
    return table, plan, None if classes is None else [str(label) for label in classes]


def fetch(entry: Named, options: Options, download: bool) -> tuple[RawTable, ColumnPlan]:
    """A set from OpenML, compared with what is known of it."""
    where = f"{entry.name}.csv.gz or {entry.name}.npz"
    folder = os.environ.get("TAMIZ_DATA")
    remedy = f"put {where} in {'that folder' if folder else 'a folder and name it in TAMIZ_DATA'}"
    looked = f"the folder {folder!r}" if folder else "a folder of data (TAMIZ_DATA is not set)"
    if entry.openml is None:
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked} and cannot be fetched; {remedy}."
        )
    if not download:
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked}; {remedy}, or allow download=True."
        )
    shown = f"OpenML {entry.openml}"
    try:
        bunch = _fetch_openml(entry.openml)
    except Exception as error:  # whatever the network, the server or the cache may bring
        words = str(error).split("\n")[0].rstrip(".")[:100] or type(error).__name__
        raise DataError(
            f"Data set {entry.name!r} was looked for in {looked}, and fetching it from OpenML "
            f"(number {entry.openml}) failed ({words}); {remedy}, or try again with a network."
        ) from None
    X, y = bunch.data, np.asarray(bunch.target)
    if X.shape != (entry.rows, entry.features):
        raise DataError(
            f"{shown} has {X.shape[0]} rows and {X.shape[1]} features where {entry.name!r} has "
            f"{entry.rows} and {entry.features}: not the same data; {remedy}."
        )
    y, note = match_labels(y, entry, shown, remedy)
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    categories = getattr(bunch, "categories", None) or {}
    names = [str(name) for name in bunch.feature_names]
    columns: list[Column] = []
    for j, name in enumerate(names):
        levels = categories.get(name)
        if levels:
            codes = np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(np.int32)
            columns.append(
                Column(name, None, codes, [str(level) for level in levels], declared=True)
            )
        else:
            columns.append(Column(name, X[:, j]))
    target = "target" if "target" not in names else "target_"
    columns.append(object_column(target, y.tolist()))
    if options.nrows is not None:
        rows = np.arange(len(X))[: options.nrows]
        columns = [column.take(rows) for column in columns]
    table = RawTable(columns, shown, [note] if note else [])
    return table, make_plan(table.names, options, shown, target)


def match_labels(y: Any, entry: Named, shown: str, remedy: str) -> tuple[np.ndarray, str]:
    """Give fetched labels the names used here, found by the number of samples of each class."""
    labels, counts = np.unique(y.astype(str), return_counts=True)
    known = entry.classes or {}
    if sorted(counts.tolist()) != sorted(known.values()):
        raise DataError(
            f"{shown} has classes of {sorted(counts.tolist())} samples where {entry.name!r} has "
            f"{sorted(known.values())}: not the same data; {remedy}."
        )
    ours = _as_labels(list(known))
    if set(labels.tolist()) == set(known):
        by_label = dict(zip(known, ours, strict=True))
        return np.array([by_label[label] for label in y.astype(str)], dtype=object), ""
    if len(set(counts.tolist())) == len(counts):
        by_count = {count: label for label, count in zip(ours, known.values(), strict=True)}
        by_label = {
            label: by_count[count] for label, count in zip(labels, counts.tolist(), strict=True)
        }
        note = "Labels of OpenML were renamed by the number of samples of each class."
        return np.array([by_label[label] for label in y.astype(str)], dtype=object), note
    note = f"Labels are those of OpenML ({', '.join(labels)}); elsewhere {', '.join(known)}."
    return np.array(_as_labels(y.astype(str).tolist()), dtype=object), note


def _as_labels(labels: list[str]) -> list[Any]:
    try:
        return [int(label) for label in labels]
    except ValueError:
        return labels


def _fetch_openml(number: int) -> Any:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=number, as_frame=False, parser="liac-arff")


# ---------------------------------------------------------------------------------- the list


class Named(NamedTuple):
    """One entry of the list."""

    name: str
    rows: int
    features: int
    summary: str
    classes: dict[str, int] | None = None  # label: count; None for a numeric target
    openml: int | None = None
    bundled: bool = False  # comes with scikit-learn or with tamiz
    text: bool = False  # the features are free text, left as it is


_SETS = [
    # ------------------------------------------------------------------ with every installation
    Named("d8", 8, 3, "eight people, tall or short: the worked example", bundled=True),
    Named("iris", 150, 4, "flowers of three species", bundled=True),
    Named("wine", 178, 13, "wines of three growers", bundled=True),
    Named("breast_cancer", 569, 30, "tumours, malignant or benign (WDBC)", bundled=True),
    Named("digits", 1797, 64, "handwritten digits, 8 x 8", bundled=True),
    Named("diabetes", 442, 10, "progression of diabetes (regression)", bundled=True),
    # --------------------------------------------------------------- low and middle dimension
    Named("vertebral_2c", 310, 6, "spines, normal or not", {"Abnormal": 210, "Normal": 100}, 1524),
    Named(
        "vertebral_3c",
        310,
        6,
        "spines: hernia, normal, spondylolisthesis",
        {"Hernia": 60, "Normal": 100, "Spondylolisthesis": 150},
        1523,
    ),
    Named(
        "arrhythmia",
        452,
        279,
        "heartbeats, 13 diagnoses, missing values",
        {
            "1": 245,
            "2": 44,
            "3": 15,
            "4": 15,
            "5": 13,
            "6": 25,
            "7": 3,
            "8": 2,
            "9": 9,
            "10": 50,
            "14": 4,
            "15": 5,
            "16": 22,
        },
        5,
    ),
    Named("spambase", 4601, 57, "e-mail, spam (1) or not", {"0": 2788, "1": 1813}, 44),
    Named(
        "pima",
        768,
        8,
        "diabetes among Pima women; zeros stand for missing",
        {"0": 500, "1": 268},
        37,
    ),
    Named("titanic", 2201, 3, "class, age, sex and survival", {"no": 1490, "yes": 711}),
    Named("heart_cleveland", 303, 13, "heart disease, absent or present", {"0": 164, "1": 139}),
    Named("german_credit", 1000, 20, "credits, mixed types", {"good": 700, "bad": 300}, 31),
    Named("german_numeric", 1000, 24, "credits, all columns numeric", {"good": 700, "bad": 300}),
    Named("a1a", 1605, 123, "Adult, binary coded, small part", {"-1": 1210, "1": 395}),
    Named(
        "adult",
        48842,
        14,
        "income above 50K, mixed types, missing values",
        {"<=50K": 37155, ">50K": 11687},
        1590,
    ),
    Named(
        "credit_approval",
        690,
        15,
        "credit cards granted, mixed types, missing values",
        {"+": 307, "-": 383},
        29,
    ),
    Named("hmeq", 5960, 12, "home-equity loans, default or not", {"0": 4771, "1": 1189}),
    Named(
        "horse_colic", 300, 27, "horses with colic: surgical lesion or not", {"1": 191, "2": 109}
    ),
    Named("promoters", 106, 57, "gene sequences, promoter or not", {"+": 53, "-": 53}),
    Named(
        "sms_spam", 5574, 1, "short messages, spam or ham", {"ham": 4827, "spam": 747}, text=True
    ),
    Named(
        "gametes_2way",
        1600,
        20,
        "two genes that act only together (artificial)",
        {"0": 800, "1": 800},
    ),
    Named("gametes_2way_continuous", 1600, 20, "the same with a numeric target (regression)"),
    Named("gametes_2way_missing", 1600, 20, "the same with a tenth missing", {"0": 800, "1": 800}),
    Named("gametes_2way_mixed", 1600, 20, "the same with continuous columns", {"0": 800, "1": 800}),
    Named("corral", 160, 6, "(A0 and A1) or (B0 and B1) (artificial)", {"0": 90, "1": 70}),
    # -------------------------------------------------------------------------- wide matrices
    Named("colon", 62, 2000, "gene expression, colon tumours", {"normal": 22, "tumor": 40}),
    Named(
        "srbct",
        83,
        2308,
        "gene expression, four small round blue cell tumours",
        {"BL": 11, "EWS": 29, "NB": 18, "RMS": 25},
    ),
    Named(
        "nci60_islr",
        64,
        6830,
        "gene expression, 60 cell lines",
        {
            "NSCLC": 9,
            "RENAL": 9,
            "MELANOMA": 8,
            "BREAST": 7,
            "COLON": 7,
            "LEUKEMIA": 6,
            "OVARIAN": 6,
            "CNS": 5,
            "PROSTATE": 2,
            "UNKNOWN": 1,
            "K562A-repro": 1,
            "K562B-repro": 1,
            "MCF7A-repro": 1,
            "MCF7D-repro": 1,
        },
    ),
    Named(
        "nine_tumors",
        60,
        5726,
        "gene expression, nine tumours",
        {"0": 9, "1": 7, "2": 8, "3": 6, "4": 6, "5": 8, "6": 8, "7": 2, "8": 6},
    ),
    Named(
        "gcm_ramaswamy_1363",
        190,
        1363,
        "gene expression, 14 tumours, filtered",
        {
            "Leukemia": 30,
            "Lymphoma": 22,
            "CNS": 20,
            "Bladder": 11,
            "Breast": 11,
            "Colorectal": 11,
            "Lung": 11,
            "Mesothelioma": 11,
            "Ovary": 11,
            "Pancreas": 11,
            "Renal": 11,
            "Melanoma": 10,
            "Prostate": 10,
            "Uterus": 10,
        },
    ),
    Named(
        "lymphoma_alizadeh_2093",
        62,
        2093,
        "gene expression, three lymphomas",
        {"CLL": 11, "DLBCL": 42, "FL": 9},
    ),
    Named(
        "leukemia_golub", 72, 7129, "gene expression, two leukemias", {"ALL": 47, "AML": 25}, 1104
    ),
    Named(
        "mrmr_colon_s3",
        62,
        2000,
        "colon in three levels, as the mRMR authors used it",
        {"-1": 40, "1": 22},
    ),
    Named(
        "mrmr_nci9_s3",
        60,
        9712,
        "nine tumours in three levels, likewise",
        {"1": 9, "2": 9, "3": 8, "4": 5, "5": 7, "6": 6, "7": 8, "8": 6, "9": 2},
    ),
    Named(
        "mrmr_lung_s3",
        73,
        325,
        "lung tumours in three levels, likewise",
        {"1": 6, "2": 5, "3": 5, "4": 16, "5": 7, "6": 13, "7": 21},
    ),
    Named(
        "usps",
        9298,
        256,
        "handwritten digits of envelopes, 16 x 16",
        {
            "0": 1553,
            "1": 1269,
            "2": 929,
            "3": 824,
            "4": 852,
            "5": 716,
            "6": 834,
            "7": 792,
            "8": 708,
            "9": 821,
        },
        41082,
    ),
    Named("a9a", 48842, 123, "Adult, binary coded", {"-1": 37155, "1": 11687}, 1430),
    Named(
        "madelon",
        2600,
        500,
        "five informative columns among noise (artificial)",
        {"-1": 1300, "1": 1300},
        1485,
    ),
    Named("arcene", 200, 10000, "mass spectra, cancer or not", {"-1": 112, "1": 88}, 1458),
    Named("dexter_train", 300, 20000, "word counts of Reuters texts", {"-1": 150, "1": 150}),
]

SETS = {entry.name: entry for entry in _SETS}

#: Other names of the same sets.
ALIASES = {
    "heights": "d8",
    "wdbc": "breast_cancer",
    "spam": "spambase",
    "leukemia": "leukemia_golub",
    "german": "german_credit",
}


def canonical(name: str) -> str | None:
    """The name under which a set is listed, or None; case, blanks and hyphens do not matter."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = ALIASES.get(key, key)
    return key if key in SETS else None
