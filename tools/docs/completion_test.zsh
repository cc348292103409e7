# See completion_test.sh. Types each line into an interactive zsh, and records what is offered.
zmodload zsh/zpty
scripts=$1

cat >rc <<RC
PS1='' PS2='' HOME=$PWD/dir
unsetopt beep
unset zle_bracketed_paste
fpath=($scripts \$fpath)
autoload -Uz compinit
compinit -u -D
RC
cat >>rc <<'RC'
# Records the candidates that match. Calls with -A, -D or -O only filter arrays.
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-[a-zA-Z]#[ADO]\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a matching
  builtin compadd -A matching "$@"
  recorded+=($matching)
  builtin compadd "$@"
}
record() { recorded=(); _main_complete }
zle -C record complete-word record
show() {
  zle record
  zle -I
  print -r -- "@<${(j: :)${(@ou)recorded}}>@"
  BUFFER=''
}
zle -N show
bindkey '^T' show
rm rc
print '@<ready>@'
RC

zpty terminal "TERM=dumb zsh -f -i"
zpty -w terminal 'setopt extendedglob; source ./rc'
zpty -r terminal output '*@<ready>@*'
while IFS= read -r line; do
  zpty -w -n terminal "$line"$'\x14'
  zpty -r terminal output '*@<*>@*'
  offered=(${=${${output##*@<}%%>@*}})
  # The = at the end of a flag belongs to what is offered.
  print -r -- ${${offered/#(#b)(--*)=/$match[1]}%/}
done
zpty -w terminal exit
