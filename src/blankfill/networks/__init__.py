"""Networks: checkpoints, their sizes, and layers that compute the same in less time or memory."""
