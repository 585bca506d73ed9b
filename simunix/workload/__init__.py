"""Jobs: trace formats and what submits them inside an emulation."""
