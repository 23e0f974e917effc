"""Draw the pictures of the guide anew: run examples of the gallery, keep their figures.

    python examples/draw_figures.py [stability.png ...] [--out docs/figures]

Without names, all that quick examples make. Pictures of the longer scripts are written by these.
Examples draw one panel to a figure; pictures of the guide have several side by side.
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

HERE = Path(__file__).resolve().parent
#: Picture of the guide: script, numbers of its figures in rows, dots per inch.
FIGURES = {
    "annealing.png": ("plot_annealing.py", [[1]], 110),
    "critical_difference.png": ("plot_critical_difference.py", [[1]], 100),
    "forward_selection.png": ("plot_forward_selection.py", [[1]], 110),
    "genetic.png": ("plot_genetic.py", [[1]], 110),
    "hold_out_curve.png": ("plot_hold_out_curve.py", [[1, 2]], 110),
    "knn_pima.png": ("plot_knn_choose_k.py", [[1]], 110),
    "l1_path.png": ("plot_l1_path.py", [[1, 2]], 130),
    "linear_path.png": ("plot_linear_path.py", [[1]], 100),
    "machines.png": ("plot_machines.py", [[1, 3], [4, 5]], 75),
    "machines_panels.png": ("plot_machines.py", [[2]], 75),
    "report_card.png": ("plot_report_card.py", [[1, 2]], 80),
    "scaling_factors.png": ("plot_scaling_factors.py", [[1, 2]], 130),
    "stability.png": ("plot_stability.py", [[1, 2], [3, 4]], 90),
    "structural_risk.png": ("plot_structural_risk.py", [[1, 2]], 80),
    "tree_pruning.png": ("plot_tree_pruning.py", [[1, 2]], 90),
    "tree_titanic.png": ("plot_tree_titanic.py", [[1]], 90),
}


def save(rows: list[list[int]], path: Path, dpi: int) -> None:
    """Several open figures in one picture."""
    drawn = []
    for row in rows:
        for number in row:
            plt.figure(number).savefig(path, dpi=dpi)
            drawn.append(Image.open(path).convert("RGB").copy())
    width, height = (max(one.size[k] for one in drawn) for k in (0, 1))
    whole = Image.new("RGB", (width * len(rows[0]), height * len(rows)), "white")
    for place, one in enumerate(drawn):
        down, right = divmod(place, len(rows[0]))
        whole.paste(one, (right * width, down * height))
    whole.save(path)


def main() -> None:
    """Run each script once and save what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "figures")
    args = parser.parse_args()
    unknown = set(args.names) - set(FIGURES)
    if unknown:
        parser.error(f"no quick example makes {', '.join(sorted(unknown))}")
    wanted = args.names or list(FIGURES)
    for script in dict.fromkeys(FIGURES[name][0] for name in wanted):
        plt.close("all")
        plt.show = lambda: None  # figures stay open until they are saved
        runpy.run_path(str(HERE / script), run_name="__main__")
        for name in wanted:
            source, rows, dpi = FIGURES[name]
            if source == script:
                save(rows, args.out / name, dpi)
                print(f"wrote {args.out / name}")


if __name__ == "__main__":
    main()
