# Completes command lines of gotrace-dump in bash. Written by `bazel run //tools:write_cli_docs`.

_gotrace_dump_commands='events wire assemble info footprint fxt validate repair convert summary goroutines tasks regions path gc latency procs leaks heap diff profile sql tables'
_gotrace_dump_with_value='a attr b buffer by compat epoch f files-from flags format from func g host id jobs kind limit limits log longer m max max-per-check min nesting o offset p path-pattern per pid process region save scheduling service slices sort stack-id strictness tables task to top trace type until view windows worst'

# _gotrace_dump_flags COMMAND: prints its flags.
_gotrace_dump_flags() {
  case $1 in
    events) echo '--format= --stacks --wall --kind= --g= --p= --m= --from= --to= --limit= --salvage --jobs= --trace= --limits= --help --version' ;;
    wire) echo '--header --trace= --limits= --help --version' ;;
    assemble) echo '-o --padded --help --version' ;;
    info) echo '--json --salvage --jobs= --trace= --limits= --help --version' ;;
    footprint) echo '--json --salvage --trace= --limits= --help --version' ;;
    fxt) echo '--help --version' ;;
    validate) echo '--json --strictness= --notes --max-per-check= --jobs= --trace= --limits= --help --version' ;;
    repair) echo '-o --check --trace= --limits= --help --version' ;;
    convert) echo '--to= -o --stacks --threads --alloc --scheduling= --compress --process= --pid= --offset= --buffer= --view= --task= --related --brief --nesting= --epoch= --kind= --g= --p= --m= --from= --until= --salvage --jobs= --trace= --limits= --help --version' ;;
    summary) echo '--merge --json --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    goroutines) echo '--each --compat= --format= --sort= --top= --g= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    tasks) echo '--each --type= --min= --max= --log= --id= --compat= --format= --sort= --top= --g= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    regions) echo '--each --type= --min= --max= --compat= --format= --sort= --top= --g= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    path) echo '--task= --g= --type= --region= -o --format= --sort= --top= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    gc) echo '--pauses --mmu --flags= --windows= --compat= --format= --sort= --top= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    latency) echo '--kind= --by= --worst= --func= --format= --sort= --top= --g= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    procs) echo '--slices= --format= --sort= --top= --p= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    leaks) echo '--longer= --format= --sort= --top= --g= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    heap) echo '--by= --format= --sort= --top= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    diff) echo '--per= --a= --b= --format= --sort= --top= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    profile) echo '--type= -o --func= --by-g --by-p --task= --region= --by-task --by-region --by-label --compat= --format= --sort= --top= --g= --p= --m= --from= --to= --salvage --jobs= --trace= --limits= --help --version' ;;
    sql) echo '--format= -f --save= --allow-write --stack-id= --salvage --jobs= --trace= --limits= --help --version' ;;
    tables) echo '--tables= --format= -o --describe --stack-id= --signed --files-from= --keep-going --service= --host= --attr= --path-pattern= --hive --salvage --jobs= --trace= --limits= --help --version' ;;
  esac
}

# _gotrace_dump_values COMMAND FLAG: sets kind and values, what the value of the flag is.
_gotrace_dump_values() {
  kind=other values=''
  case $1:$2 in
    events:trace | wire:trace | info:trace | footprint:trace | validate:trace | convert:trace | summary:trace | goroutines:trace | tasks:trace | regions:trace | gc:trace | latency:trace | procs:trace | leaks:trace | heap:trace | sql:trace | tables:trace)
      kind=choice values='all'
      ;;
    convert:scheduling)
      kind=choice values='auto generic off'
      ;;
    latency:sort)
      kind=choice values='count clipped total_ns min_ns p50_ns p90_ns p99_ns max_ns histogram kind reason start stack begin_ns length_ns clipped_at g ended_by ended_by_g ended_by_stack'
      ;;
    leaks:sort)
      kind=choice values='count longest_ns total_ns counts reason start created_at blocked_at'
      ;;
    regions:sort)
      kind=choice values='count open duration_min_ns duration_p50_ns duration_p90_ns duration_p99_ns duration_max_ns total_ns running_ns runnable_ns syscall_ns syscall_blocked_ns unknown_ns blocked_total_ns blocked_ns ranges_ns type g task begin_ns end_ns duration_ns'
      ;;
    tasks:sort)
      kind=choice values='count open duration_min_ns duration_p50_ns duration_p90_ns duration_p99_ns duration_max_ns total_ns running_ns runnable_ns syscall_ns syscall_blocked_ns unknown_ns blocked_total_ns blocked_ns ranges_ns type g task begin_ns end_ns duration_ns parent end_g goroutines regions logs length_ns what child text category reason woken_by waker waker_function function'
      ;;
    goroutines:sort)
      kind=choice values='count total_ns running_ns runnable_ns syscall_ns syscall_blocked_ns unknown_ns blocked_total_ns blocked_ns ranges_ns total_min_ns total_p50_ns total_p90_ns total_p99_ns total_max_ns running_min_ns running_p50_ns running_p90_ns running_p99_ns running_max_ns runnable_min_ns runnable_p50_ns runnable_p90_ns runnable_p99_ns runnable_max_ns blocked_min_ns blocked_p50_ns blocked_p90_ns blocked_p99_ns blocked_max_ns syscall_min_ns syscall_p50_ns syscall_p90_ns syscall_p99_ns syscall_max_ns name g creation_ns start_ns end_ns'
      ;;
    gc:sort)
      kind=choice values='cycle trigger g begin_ns end_ns length_ns pauses pauses_ns longest_pause_ns assists assists_ns assists_by_g_ns workers_ns dedicated_ns fractional_ns idle_ns sweeps sweeps_ns swept_bytes reclaimed_bytes heap_begin_bytes goal_bytes heap_end_bytes next_goal_bytes p last_p last_p_stop_ns reason window_ns mmu worst_time_ns worst'
      ;;
    goroutines:compat | tasks:compat | regions:compat | gc:compat | profile:compat)
      kind=choice values='go'
      ;;
    validate:strictness)
      kind=choice values='go all'
      ;;
    events:format)
      kind=choice values='go json'
      ;;
    diff:sort)
      kind=choice values='metric a b change factor spread exceeds_spread weight function'
      ;;
    convert:buffer)
      kind=choice values='oneshot: circular: streaming:'
      ;;
    procs:sort)
      kind=choice values='p total_ns user_ns gc_ns assist_ns syscall_ns scheduler_ns idle_ns runs migrations steals'
      ;;
    tables:format)
      kind=choice values='parquet csv tsv jsonl'
      ;;
    sql:stack-id | tables:stack-id)
      kind=choice values='pc lines'
      ;;
    convert:to)
      kind=choice values='perfetto fxt chrome trace2-normal trace2-perf trace2-event'
      ;;
    convert:view)
      kind=choice values='proc thread goroutine task'
      ;;
    diff:per)
      kind=choice values='second task'
      ;;
    sql:format)
      kind=choice values='table csv tsv json jsonl'
      ;;
    goroutines:format | tasks:format | regions:format | gc:format | latency:format | procs:format | leaks:format | heap:format | diff:format)
      kind=choice values='text csv json jsonl'
      ;;
    path:format | profile:format)
      kind=choice values='text csv json jsonl folded'
      ;;
    profile:sort)
      kind=choice values='time_ns count state reason start stack g p task region label'
      ;;
    path:sort)
      kind=choice values='time_ns share count state reason woken_by start stack begin_ns end_ns length_ns depth g ran_ns ran'
      ;;
    heap:by)
      kind=choice values='type func time age span'
      ;;
    heap:sort)
      kind=choice values='type_address live_objects live_bytes start_objects start_bytes allocated_objects allocated_bytes freed_objects freed_bytes peak_bytes per_second_bytes per_second_objects survived_objects survived_bytes age_p50 age_max type goroutines name begin_ns end_ns until_ns cycles span_bytes heap_metric_bytes stacks stack_bytes types_bytes age use pointers slot_bytes spans bytes slots used occupancy used_bytes unused_bytes'
      ;;
    profile:type)
      kind=choice values='wall offcpu oncpu net sync syscall sched wakeup create gc-assist'
      ;;
    latency:by)
      kind=choice values='what func stack'
      ;;
    tables:o)
      kind=directory
      ;;
    assemble:o | repair:o | convert:o | path:o | profile:o | sql:f | sql:save | tables:files-from)
      kind=file
      ;;
    events:kind | convert:kind)
      kind=list values='Sync Metric Label StackSample RangeBegin RangeActive RangeEnd TaskBegin TaskEnd RegionBegin RegionEnd Log StateTransition Experimental'
      ;;
    wire:limits | footprint:limits)
      kind=list values='decompressed-bytes='
      ;;
    events:limits | info:limits | validate:limits | repair:limits | convert:limits | summary:limits | goroutines:limits | tasks:limits | regions:limits | path:limits | gc:limits | latency:limits | procs:limits | leaks:limits | heap:limits | diff:limits | profile:limits | sql:limits | tables:limits)
      kind=list values='generation-bytes= threads= procs= goroutines= nesting= decompressed-bytes='
      ;;
    latency:kind)
      kind=list values='scheduling blocked syscall pause assist'
      ;;
    gc:flags)
      kind=list values='stw background assist sweep perproc'
      ;;
    tables:tables)
      kind=list values='traces generations events g_states p_states m_states goroutines ranges tasks regions logs metrics cpu_samples labels allocs stacks stack_frames state_hist range_hist task_hist region_hist all'
      ;;
  esac
}

_gotrace_dump() {
  # The words before the cursor, and the one at the cursor. Bash also splits at = and :, but a word
  # is what ends with white space.
  local rest=${COMP_LINE:0:COMP_POINT} word i
  local -a words=()
  for ((i = 0; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then
      words+=("$word")
      rest=${rest#"${rest%%[![:space:]]*}"}
    else
      words[${#words[@]}-1]+=$word
    fi
    rest=${rest#"$word"}
  done
  local current=$rest
  if [[ $rest == [[:space:]]* ]]; then
    current=${rest#"${rest%%[![:space:]]*}"}
  else
    current=${words[${#words[@]}-1]}$rest
    unset "words[${#words[@]}-1]"
  fi
  # Bash replaces only what follows the last = or :.
  local kept=${current%"$2"}

  # The command, which is the first name, and the flag whose value comes next.
  local first='' flag='' only_files=false
  for ((i = 1; i < ${#words[@]}; ++i)); do
    word=${words[i]}
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $only_files == false && $word == -- ]]; then
      only_files=true
    elif [[ $only_files == false && $word == -?* ]]; then
      word=${word#-}
      [[ " $_gotrace_dump_with_value " == *" ${word#-} "* ]] && flag=$word
    elif [[ -z $first ]]; then
      first=$word
      [[ $only_files == true ]] && first=-
    fi
  done
  local command=events
  [[ " $_gotrace_dump_commands " == *" $first "* ]] && command=${first:-events}

  COMPREPLY=()
  local candidate
  if [[ -z $flag && $only_files == false && $current == -*=* ]]; then
    flag=${current%%=*}
    _gotrace_dump_value "$command" "$flag" "${current#*=}" "$flag="
  elif [[ -n $flag ]]; then
    _gotrace_dump_value "$command" "$flag" "$current" ''
  elif [[ $only_files == false && $current == -* ]]; then
    compopt +o default +o bashdefault 2>/dev/null
    for candidate in $(_gotrace_dump_flags "$command"); do
      [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
    done
  elif [[ $first == help ]]; then
    compopt +o default +o bashdefault 2>/dev/null
    COMPREPLY=($(compgen -W "$_gotrace_dump_commands" -- "$current"))
  elif [[ -z $first && $only_files == false ]]; then
    # Files may be given without a command. If there is no command like this, bash lists them.
    COMPREPLY=($(compgen -W "$_gotrace_dump_commands help" -- "$current"))
    if [[ ${#COMPREPLY[@]} -gt 0 ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
      done < <(compgen -f -- "$current")
    fi
  fi
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
  done
  # More of the word is to come.
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

# _gotrace_dump_value COMMAND FLAG TYPED PREFIX: completes the value of a flag. PREFIX precedes it in
# the same word.
_gotrace_dump_value() {
  local typed=$3 prefix=$4 flag=${2#-} kind values lead='' value
  _gotrace_dump_values "$1" "${flag#-}"
  case $kind in
    file) return ;;  # Bash completes it.
    directory)
      compopt +o default +o bashdefault -o dirnames 2>/dev/null
      return
      ;;
    list) [[ $typed == *,* ]] && lead=${typed%,*}, ;;
  esac
  compopt +o default +o bashdefault 2>/dev/null
  for value in $values; do
    [[ $lead$value == "$typed"* ]] && COMPREPLY+=("$prefix$lead$value")
  done
}

complete -o bashdefault -o default -F _gotrace_dump gotrace-dump
