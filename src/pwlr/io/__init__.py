"""The doors: files and other libraries' graphs in, `pwlr.graphs.GraphBatch` out, and back again."""
