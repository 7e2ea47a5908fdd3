"""Whether a real client obeys: canary sessions in a room, judged by what they did."""
