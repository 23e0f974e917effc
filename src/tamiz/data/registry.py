"""The data sets known by name: what they are, how large, and where a copy can be had.

``openml`` is the number of the set there, as public sources give it. Shape and class counts are
compared after every download, so that other data under that number are refused.
"""

from __future__ import annotations

from typing import NamedTuple


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
