"""What the tests on a GPU share: where things are, and why there may be no GPU."""
