"""What assignment saves: crowds whose truth is known, asked as the service asks real ones."""
