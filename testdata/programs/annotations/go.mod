module annotations

go 1.22
