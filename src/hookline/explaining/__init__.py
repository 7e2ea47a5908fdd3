"""What happened to an event and why, from what was written down of it. Values in, values out."""
