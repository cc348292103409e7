module cgocallback

go 1.22
