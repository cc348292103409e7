module deepstacks

go 1.22
