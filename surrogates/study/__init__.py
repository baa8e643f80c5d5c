"""One trial of the surrogate study: a surrogate is fitted, searched, and graded by itself and by the truth."""
