"""A public job log: where it is, how it is recognised, who made it and on what terms it may be used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file that `hpcsim workload fetch` can get.

    Attributes:
        file: its name at the source and in the user's folder.
        url: where it is.
        citation: what its makers ask to be cited.
        terms: what it may be used for.
        checksum: ``"sha256:..."``; empty where *record* has to be asked for it.
        record: URL of a description (Zenodo's JSON) that states the checksum, where none is known in advance.
        format: the registry name of its reader.
    """

    file: str
    url: str
    citation: str
    terms: str
    checksum: str = ""
    record: str = ""
    format: str = "swf"
