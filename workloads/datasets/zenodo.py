"""Logs with power readings, published on Zenodo. The record itself states each file's checksum."""

from __future__ import annotations

import re

from hpcsim.dataset import Dataset
from hpcsim.errors import InvalidArgument

ZENODO = "https://zenodo.org"
LOOK = "See the licence on the record's page before use."


def pm100() -> Dataset:
    """PM100, jobs of Marconi100 at CINECA with node, CPU and memory power: 231,238 jobs of 2020."""
    citation = (
        "F. Antici, M. Seyedkazemi Ardebili, A. Bartolini, Z. Kiziltan, "
        '"PM100: A Job Power Consumption Dataset of a Large-Scale Production HPC System", SC-W 2023'
    )
    return _file(10127767, "job_table.parquet", citation, LOOK, "pm100")


def adastra() -> Dataset:
    """Adastra at CINES, 1-15 September 2024, MI250X partition with power: 15,285 jobs."""
    citation = "Adastra jobs, MI250X partition, 15 days: Zenodo record 14007065"
    return _file(14007065, "AdastaJobsMI250_15days.parquet", citation, LOOK, "adastra")


def f_data(*, month: str = "21_03") -> Dataset:
    """F-DATA, jobs of Fugaku, March 2021 to April 2024: about 24 million, one file a *month* of submission ("YY_MM").

    Raises:
        InvalidArgument: *month* is not written so.
    """
    if not re.fullmatch(r"2[1-4]_(0[1-9]|1[0-2])", month) or not "21_03" <= month <= "24_04":
        raise InvalidArgument(f"F-DATA has no month '{month}'.", "Give one from 21_03 to 24_04, as YY_MM.")
    citation = (
        "F. Antici, A. Bartolini, J. Domke, Z. Kiziltan, K. Yamamoto, "
        '"F-DATA: A Fugaku Workload Dataset for Job-centric Predictive Modelling in HPC Systems", 2024'
    )
    return _file(11467483, f"{month}.parquet", citation, "CC BY 4.0", "f-data")


def _file(record: int, name: str, citation: str, terms: str, reader: str) -> Dataset:
    return Dataset(
        file=name,
        url=f"{ZENODO}/records/{record}/files/{name}?download=1",
        citation=f"{citation}, {ZENODO}/records/{record}",
        terms=terms,
        record=f"{ZENODO}/api/records/{record}",
        format=reader,
    )
