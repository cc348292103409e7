module startstop

go 1.22
