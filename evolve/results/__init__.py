"""What can be made of runs, ended or not: reading, listing, mending and telling of them."""
