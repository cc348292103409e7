module alloc

go 1.22
