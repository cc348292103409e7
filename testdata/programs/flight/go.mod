module flight

go 1.22
