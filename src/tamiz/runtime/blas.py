"""The former place of :mod:`tamiz.runtime.threads`."""

from tamiz.runtime.threads import one_blas_thread as one_blas_thread
from tamiz.runtime.threads import product as product
