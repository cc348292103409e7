module cpuprofile

go 1.22
