module blocking

go 1.22
