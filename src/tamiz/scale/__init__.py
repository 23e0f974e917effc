"""Data larger than memory: tables read in batches, and statistics of batches that merge."""

from typing import TYPE_CHECKING

from tamiz.runtime import lazy_names

if TYPE_CHECKING:
    from tamiz.data.loading import available_bytes, is_large, table_bytes
    from tamiz.scale.batch import Batch, Schema
    from tamiz.scale.batched import Batches
    from tamiz.scale.comoments import CoMoments
    from tamiz.scale.counts import LevelCounts
    from tamiz.scale.cuts import Cuts, streamed_cuts
    from tamiz.scale.dask import DaskExecutor
    from tamiz.scale.filling import Filled
    from tamiz.scale.histograms import ClassHistograms, fine_cuts
    from tamiz.scale.moments import ClassMoments
    from tamiz.scale.ordered import Bounds
    from tamiz.scale.pair_counts import PairCounts
    from tamiz.scale.passes import sweep
    from tamiz.scale.ranges import Ranges
    from tamiz.scale.sample import RowSample
    from tamiz.scale.sources import batches, register
    from tamiz.scale.streamed_codes import StreamedCodes
    from tamiz.scale.values import DistinctValues

__all__ = [
    "Batch",
    "Batches",
    "Bounds",
    "ClassHistograms",
    "ClassMoments",
    "CoMoments",
    "Cuts",
    "DaskExecutor",
    "DistinctValues",
    "Filled",
    "LevelCounts",
    "PairCounts",
    "Ranges",
    "RowSample",
    "Schema",
    "StreamedCodes",
    "available_bytes",
    "batches",
    "fine_cuts",
    "is_large",
    "register",
    "streamed_cuts",
    "sweep",
    "table_bytes",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tamiz.data.loading": "available_bytes is_large table_bytes",
        ".batch": "Batch Schema",
        ".batched": "Batches",
        ".comoments": "CoMoments",
        ".counts": "LevelCounts",
        ".cuts": "Cuts streamed_cuts",
        ".dask": "DaskExecutor",
        ".filling": "Filled",
        ".histograms": "ClassHistograms fine_cuts",
        ".moments": "ClassMoments",
        ".ordered": "Bounds",
        ".pair_counts": "PairCounts",
        ".passes": "sweep",
        ".ranges": "Ranges",
        ".sample": "RowSample",
        ".sources": "batches register",
        ".streamed_codes": "StreamedCodes",
        ".values": "DistinctValues",
    },
)
