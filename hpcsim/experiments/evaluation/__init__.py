"""How good is a scheduler on sequences that it never saw? Fixed suites, paired with every rule.

- `suites`: which sequences, on which machine, under which protocol
- `contenders`: who is put to the test, and what stands beside a rule or a network
- `runner`: every contender on every sequence, on several processes
- `standing`: ratios to a reference with their intervals, over sequences and training seeds
"""
