// Prints util/printable.inc: the ranges of runes that strconv.IsPrint calls printable.
//
//	go run make_printable.go > printable.inc
package main

import (
	"fmt"
	"strconv"
	"unicode"
)

func main() {
	fmt.Printf("// Made by make_printable.go: what Unicode %s calls printable, as {first, last} runes.\n", unicode.Version)
	first := rune(-1)
	for r := rune(0); r <= unicode.MaxRune+1; r++ {
		switch printable := strconv.IsPrint(r); {
		case printable && first < 0:
			first = r
		case !printable && first >= 0:
			fmt.Printf("{0x%04X, 0x%04X},\n", first, r-1)
			first = -1
		}
	}
}
