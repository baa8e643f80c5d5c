"""The tests of hpcsim; packages mirror those of the product."""
