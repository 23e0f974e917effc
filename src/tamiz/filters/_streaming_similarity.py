"""Similarities of features that were never in memory together, for QPFS and CFS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tamiz.filters._similarity import Information, Similarity, Target, standardised
from tamiz.filters._streaming import Correlate, Sampling, Stream, rows_to_sample
from tamiz.scale import Batch, CoMoments, Cuts, RowSample, StreamedCodes


class StreamedInformation(Information):
    """Mutual information, or symmetrical uncertainty, from counts.

    Which features lie close to each other (for sampling "kmeans" and "leverage") is told by the
    codes of a sample of rows.
    """

    def __init__(
        self,
        codes: StreamedCodes,
        target: Target,
        sample: RowSample | None,
        cuts: Cuts,
        *,
        least: float = 0.0,
        ratio: bool = False,
    ):
        super().__init__(codes, target, least=least, ratio=ratio)
        self.sample, self.cuts = sample, cuts

    def prepare(self, index: np.ndarray) -> None:
        self.codes.prepare(index)

    def points(self) -> np.ndarray:
        assert self.sample is not None
        codes = self.cuts.codes(self.sample.X)[:, self.kept]
        # numbered as in Codes.column: the levels that occur, one after the other
        columns = [_numbered(column) for column in codes.T]
        return np.column_stack(columns).astype(np.float64)


def _numbered(column: np.ndarray) -> np.ndarray:
    known = column >= 0
    out = np.full(len(column), -1)
    out[known] = np.unique(column[known], return_inverse=True)[1]
    if not known.all():
        out[~known] = out.max() + 1
    return out


class StreamedPearson(Similarity):
    """Absolute correlation, from sums of products."""

    def __init__(self, moments: CoMoments, sample: RowSample | None = None):
        self.n_features = moments.n_features
        self.kept = np.flatnonzero(moments.varies())
        whole = np.abs(moments.correlations())
        self.R = whole if self.n == self.n_features else whole[np.ix_(self.kept, self.kept)]
        self.relevance = moments.relevance()[self.kept]
        self.sample = sample

    def rows(self, index: np.ndarray) -> np.ndarray:
        return self.R[index]

    def diag(self) -> np.ndarray:
        return np.ones(self.n)

    def points(self) -> np.ndarray:
        assert self.sample is not None
        return np.ascontiguousarray(standardised(self.sample.X)[0][:, self.kept])


@dataclass
class Products:
    """Sums of products, and a sample of rows if one is wanted."""

    moments: CoMoments
    sample: RowSample | None

    def merge(self, other: Products) -> Products:
        """The same of both sets of rows."""
        sample = None
        if self.sample is not None and other.sample is not None:
            sample = self.sample.merge(other.sample)
        return Products(self.moments.merge(other.moments), sample)


@dataclass
class CorrelateAndSample:
    """From a batch to its :class:`Products`."""

    correlate: Correlate
    sampling: Sampling | None

    @classmethod
    def of(cls, stream: Stream, sample_size: int | None) -> CorrelateAndSample:
        """For a stream; a ``sample_size`` of 0 is for no sample."""
        sampling = None
        if sample_size != 0:
            size = rows_to_sample(sample_size, stream.schema.n_features)
            sampling = Sampling(size, stream.table.n_rows)
        return cls(Correlate(stream.n_classes), sampling)

    def __call__(self, batch: Batch) -> Products:
        sample = None if self.sampling is None else self.sampling(batch)
        return Products(self.correlate(batch), sample)
