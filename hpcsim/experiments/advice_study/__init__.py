"""The study of node-count advice in the loop: what it does to everybody's turnaround and to the machine's energy."""
