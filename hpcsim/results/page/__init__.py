"""The interactive report: one HTML file with its charts, its script and its data inside."""
