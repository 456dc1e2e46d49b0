"""The benchmark suite: ours and its peers on the same files in one sitting. See README.md; `make bench` runs it."""
