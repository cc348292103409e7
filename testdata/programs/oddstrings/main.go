// Oddstrings writes an execution trace of user annotations with strings of all kinds as names and messages.
//
//	oddstrings FILE
package main

import (
	"context"
	"log"
	"os"
	"runtime/trace"
	"strings"
)

// oddStrings are names and messages that a reader may get wrong when it prints, quotes or cuts them.
var oddStrings = []string{
	"",
	"plain",
	`"double" 'single' ` + "`back` quotes",
	`back\slash`,
	"two\nlines\r\n\tand a tab",
	"M=1 P=1 G=1 looks like an event",
	"control \x00\x01\x1b\x7f bytes",
	"größe, 日本語, Ελληνικά, 🙂",
	"e\u0301 combining, \u200b zero width, \u202e right to left, \ufeff BOM, \ufffd replacement",
	"\U000e0001 tag, \U0010ffff last code point, \u00a0 no-break space, \u00ad soft hyphen",
	"invalid UTF-8: \xff \xc3\x28 \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80",
	"<script>&amp;</script>",
	"%d %s %!",
	// The runtime cuts strings of more than 1024 bytes; here the cut falls inside a character.
	strings.Repeat("x", 1023) + "é and the rest is cut",
}

// use uses every odd string as the name of a task and of a region, and as both parts of a log.
func use() {
	for _, s := range oddStrings {
		ctx, task := trace.NewTask(context.Background(), s)
		trace.WithRegion(ctx, s, func() {
			trace.Log(ctx, s, s)
		})
		task.End()
	}
	trace.Logf(context.Background(), "format", "%d of %q", len(oddStrings), "strings")
	trace.Log(context.Background(), "no task", "the background context has none")
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: oddstrings FILE")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Start(f); err != nil {
		log.Fatal(err)
	}

	use()

	trace.Stop()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
