"""The order of the gallery: stories from real data, then methods, then what is not run."""

from __future__ import annotations

STORIES = [
    "plot_first_selection",
    "plot_colon_honest_error",
    "plot_leukemia_genes",
    "plot_spam_words",
    "plot_credit_evidence",
    "plot_home_loans",
    "plot_digit_pixels",
    "plot_tree_titanic",
    "plot_why_this_spine",
    "plot_report_card",
    "plot_text_categories",
    "plot_stability",
]
METHODS = [
    "plot_noise",
    "plot_exclusive_or",
    "plot_qpfs_trade_off",
    "plot_hold_out_curve",
    "plot_regression",
    "plot_l1_path",
    "plot_linear_path",
    "plot_scaling_factors",
    "plot_forward_selection",
    "plot_annealing",
    "plot_genetic",
    "plot_kernels",
    "plot_machines",
    "plot_tune",
    "plot_knn_choose_k",
    "plot_critical_difference",
    "plot_structural_risk",
]
READ = [*STORIES, *METHODS]


class ReadingOrder:
    """A sort key of file names: the list above, other examples that are run, then the rest."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, int, str]:
        name = filename.removesuffix(".py")
        place = READ.index(name) if name in READ else len(READ)
        return (0 if name.startswith("plot_") else 1, place, name)

    def __repr__(self) -> str:
        return "ReadingOrder"
