module generations

go 1.22
