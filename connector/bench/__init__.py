"""`crowdresolve bench`: how the aggregators compare with the papers, each other and Crowd-Kit."""
