module oddstrings

go 1.22
