"""How each database picks a batch of runnable entries; everything else about the queue is the same for all."""
