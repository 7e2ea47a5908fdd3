"""What judges are made of: the question, the model that is asked, and how its answer reads."""
