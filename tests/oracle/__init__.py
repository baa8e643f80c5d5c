"""Our schedules against independent ones: a slow reference scheduler, and other people's simulators."""
