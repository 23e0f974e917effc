"""Draw the pictures of the guide anew: run examples of the gallery, keep their figures.

    python examples/draw_figures.py [stability.png ...] [--out docs/figures]

Without names, all that quick examples make. Pictures of the longer scripts are written by these.
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
#: Picture of the guide: script, number of its figure, dots per inch.
FIGURES = {
    "annealing.png": ("plot_annealing.py", 1, 110),
    "critical_difference.png": ("plot_critical_difference.py", 1, 100),
    "forward_selection.png": ("plot_forward_selection.py", 1, 110),
    "genetic.png": ("plot_genetic.py", 1, 110),
    "hold_out_curve.png": ("plot_hold_out_curve.py", 1, 110),
    "l1_path.png": ("plot_l1_path.py", 1, 130),
    "report_card.png": ("plot_report_card.py", 1, 80),
    "scaling_factors.png": ("plot_scaling_factors.py", 1, 130),
    "stability.png": ("plot_stability.py", 1, 90),
}


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
            source, number, dpi = FIGURES[name]
            if source == script:
                plt.figure(number).savefig(args.out / name, dpi=dpi)
                print(f"wrote {args.out / name}")


if __name__ == "__main__":
    main()
