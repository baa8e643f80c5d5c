"""Logs of the Parallel Workloads Archive, by D. G. Feitelson and many contributors.

Checksums are of the files from which the figures in this project's documentation were computed;
altered copies of some of them are about (SDSC-SP2, KTH).
"""

from __future__ import annotations

from hpcsim.dataset import Dataset

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"
PAPER = (
    'D. G. Feitelson, D. Tsafrir, D. Krakov, "Experience with using the Parallel Workloads Archive", '
    "J. Parallel Distrib. Comput. 74(10):2967-2982, 2014"
)
TERMS = "Name the archive's page as the source, cite the paper, thank the contributor."
JOBLOG_TERMS = (
    "Copyright 2000 The Regents of the University of California. Use, copying, change and distribution for "
    "educational, research and non-profit purposes, with the file's notice kept and the data named as the source. "
    + TERMS
)


def sdsc_sp2() -> Dataset:
    """IBM SP2 at San Diego, 1998-2000: 59,715 jobs, 128 processors."""
    sha256 = "e03fe48be50c4ab04d6bb2285296d9c3399e9c1f27ee79b754ad32a14abd9bac"
    return _log("l_sdsc_sp2/SDSC-SP2-1998-4.2-cln", "Victor Hazlewood", sha256, JOBLOG_TERMS)


def kth_sp2() -> Dataset:
    """IBM SP2 at KTH Stockholm, 1996-1997: 28,476 jobs, 100 processors."""
    sha256 = "3e152f201fd2e96808a735bced6ea6eb0bb07fdc447689cafb0750d87b264c0b"
    return _log("l_kth_sp2/KTH-SP2-1996-2.1-cln", "Lars Malinowsky", sha256)


def ctc_sp2() -> Dataset:
    """IBM SP2 at Cornell, 1996-1997: 77,222 jobs, 338 processors."""
    sha256 = "9fa28ac16c4386fb81b72a91d8bd8888281df2948a9d912769d387c5ee285bb4"
    return _log("l_ctc_sp2/CTC-SP2-1996-3.1-cln", "Dan Dwyer and Steve Hotovy", sha256)


def hpc2n() -> Dataset:
    """Linux cluster in Umea, 2002-2006: 202,871 jobs, 240 processors."""
    sha256 = "3c534857d6065cfd9cc35aac8d064c9c17172be7acf336de835006f43a626e64"
    return _log("l_hpc2n/HPC2N-2002-2.2-cln", "Ake Sandgren", sha256)


def nasa_ipsc() -> Dataset:
    """Intel iPSC/860 at NASA Ames, 1993: 18,239 jobs, 128 processors, no waits and no limits."""
    sha256 = "5589ae9b2fb78e3bf92de097497cf33a91607de1ad54563e43533f7827597f29"
    return _log("l_nasa_ipsc/NASA-iPSC-1993-3.1-cln", "Bill Nitzberg", sha256)


def llnl_atlas() -> Dataset:
    """Linux cluster Atlas at Livermore, 2006-2007: 43,778 jobs, 9,216 processors."""
    sha256 = "48cc83b7a0490252aa1ae41a4b03dd598bc0683e146be94047febee36e7e0b36"
    return _log("l_llnl_atlas/LLNL-Atlas-2006-2.1-cln", "Moe Jette", sha256)


def llnl_thunder() -> Dataset:
    """Linux cluster Thunder at Livermore, 2007: 121,039 jobs, 4,008 processors."""
    sha256 = "00d9bce501efd3a23cd0713bbae591516b7a69217d5f4b851725f601f3b75247"
    return _log("l_llnl_thunder/LLNL-Thunder-2007-1.1-cln", "Moe Jette", sha256)


def metacentrum() -> Dataset:
    """Czech grid MetaCentrum, 2009: 103,656 jobs, no header."""
    sha256 = "7c0b347e77fc7a9aafe91f96a20186a8dd16c11a51e5f19c692a93d11a64893c"
    return _log("l_metacentrum/METACENTRUM-2009-2", "the Czech National Grid Infrastructure MetaCentrum", sha256)


def ricc() -> Dataset:
    """Fujitsu cluster at RIKEN, 2010: 447,794 jobs, 8,192 processors."""
    sha256 = "38b7c5c9843d9a9f3d61a2d8b927f6d39b68b368fb713886b5f2ce3499f2ec82"
    return _log("l_ricc/RICC-2010-2", "Motoyoshi Kurokawa", sha256)


def cea_curie() -> Dataset:
    """Bull cluster Curie at CEA, 2012: 312,826 jobs, 93,312 processors."""
    sha256 = "2a0fdbd40837590b491bbbac7d4cfe521de1f0b14c0dc39bbf82c4e49ea75bce"
    return _log("l_cea_curie/CEA-Curie-2011-2.1-cln", "Joseph Emeras", sha256)


def _log(path: str, contributor: str, sha256: str, terms: str = TERMS) -> Dataset:
    return Dataset(
        file=path.rpartition("/")[2] + ".swf.gz",
        url=f"{ARCHIVE}/{path}.swf.gz",
        citation=f"{PAPER}; log by {contributor}, {ARCHIVE}/{path.partition('/')[0]}/",
        terms=terms,
        checksum=f"sha256:{sha256}",
    )
