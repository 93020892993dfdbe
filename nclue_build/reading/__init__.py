"""Reading a build: samples to read against the pages, and the shares that come out."""
