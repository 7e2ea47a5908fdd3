"""The durable record of events: written before the answer leaves, read by people's commands."""
