# See completion_test.sh.
set -gx HOME $PWD/dir
source $argv[1]/gotrace-dump.fish
while read -l line
    set -l offered
    for candidate in (complete -C $line | string replace -r '\t.*' '')
        # The rest of the word; = and / at its end belong to what is offered.
        set -l rest (string replace -r '^(-.*?=)?(.*,)?' '' -- $candidate)
        set -a offered (string replace -r '/$' '' -- $rest)
    end
    string join -- ' ' (printf '%s\n' $offered | sort)
end
exit 0
