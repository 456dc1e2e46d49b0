"""The browser application: look at a run, explain it, decide, judge; on this machine, for one run folder."""
