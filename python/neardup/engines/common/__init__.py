"""What both engines share: what may be asked of a run, what is held of a page, and what is said of what was found."""
