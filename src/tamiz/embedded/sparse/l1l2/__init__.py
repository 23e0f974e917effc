"""The machine with both an l1 and an l2 penalty: problem, interior point, descent, polish."""
