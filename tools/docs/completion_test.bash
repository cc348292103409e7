# See completion_test.sh. Types each line into an interactive bash, and lets it insert all candidates.
scripts=$1

cat >rc <<'RC'
PS1='' PS2=''
bind 'set bell-style none' 'set completion-ignore-case off'
bind '"\C-xi": insert-completions'
# Prints the line, and clears it.
show() {
  printf '<%s>\n' "$READLINE_LINE"
  READLINE_LINE='' READLINE_POINT=0
}
bind -x '"\C-xs": show'
RC
echo "source $scripts/gotrace-dump.bash; rm rc; echo '<ready>'" >>rc

# script gives it a terminal.
coproc bash_in_terminal { TERM=dumb HOME=$PWD/dir script -qfc "bash --noprofile --rcfile rc -i" /dev/null; }
exec {to}>&"${bash_in_terminal[1]}" {from}<&"${bash_in_terminal[0]}"

# Sets shown to what bash prints next between < and >.
read_shown() {
  local skipped
  IFS= read -r -t 20 -d '<' -u "$from" skipped && IFS= read -r -t 20 -d '>' -u "$from" shown && return
  echo "bash did not answer" >&2
  exit 1
}

read_shown
while IFS= read -r line; do
  printf '%s\030i\030s' "$line" >&"$to"
  read_shown
  # What follows the words before the one that was completed; nothing if nothing was inserted.
  before=${line%"${line##* }"}
  inserted=${shown#"$before"}
  [[ $shown == "$line" ]] && inserted=''
  # Of one candidate with a prefix: the rest of the word.
  for word in $inserted; do
    [[ $word == -*=?* ]] && word=${word#*=}
    word=${word##*,}
    [[ $word == --*= ]] && word=${word%=}
    echo "${word%/}"
  done | sort | paste -s -d ' '
done
printf 'exit\n' >&"$to"
