"""Recordings of many programs in one directory: labelled, each content once, to publish."""

from __future__ import annotations

from mneme.corpus.corpus import Corpus, CorpusEntry

__all__ = ["Corpus", "CorpusEntry"]
