module coroutines

go 1.22
