module syscalls

go 1.22
