"""The former place of :mod:`tamiz.runtime.threads`."""

from tamiz.runtime.threads import limit_threads as limit_threads
from tamiz.runtime.threads import n_threads as n_threads
from tamiz.runtime.threads import run_tiles as run_tiles
from tamiz.validation import N_JOBS as N_JOBS
from tamiz.validation import refuse_no_jobs as refuse_no_jobs
