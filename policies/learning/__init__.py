"""Learn to schedule: an environment on the simulator itself, what an agent sees, and what it is paid.

`observation` and `heads` need NumPy alone, so that a trained network can schedule without more;
`environment` needs Gymnasium. Nothing here is imported by `import hpcsim`.
"""
