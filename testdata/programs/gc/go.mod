module gc

go 1.22
