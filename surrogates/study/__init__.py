"""One trial of the advisor study: a surrogate is fitted, searched, and graded by itself and by the truth."""
