"""How the aggregators compare: with the papers, with each other, with Crowd-Kit."""
