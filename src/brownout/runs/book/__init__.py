"""The book: the same faults on several databases at shares of their own capacity, published."""
