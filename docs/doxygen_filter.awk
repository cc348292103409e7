#!/usr/bin/awk -f
# Turns the comments of a public header, which begin with `//`, into comments for Doxygen. The first comment
# of a file describes the file. A comment above several declarations without blank lines describes each.
FNR == 1 && /^\/\/ / { print "/// \\file" }

/^ *\/\/( |$)/ {
  if (!in_comment) comment = ""
  in_comment = 1
  sub(/\/\//, "///")
  comment = comment $0 "\n"
  match($0, /^ */)
  indent = RLENGTH
  print
  next
}

/^ *$/ { comment = "" }

# Doxygen does not understand the specialisations of std::hash.
/^}  \/\/ namespace gotrace$/ { print; outside = 1; next }
/^namespace gotrace/ { outside = 0 }
outside && !/^#/ { next }

{
  match($0, /^ */)
  if (!in_comment && ended && RLENGTH == indent && comment != "" && !/^ *[}#]/) printf "%s", comment
  in_comment = 0
  ended = /[;}] *(\/\/ .*)?$/
  sub(/  \/\/ /, "  ///< ")
  print
}
