module diag

go 1.24
