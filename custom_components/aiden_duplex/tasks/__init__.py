"""The task manager: tasks, their seven states, queue, questions and delivery."""
