# Completion of prof's command line for bash.
_prof() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'record load report diff check export push symbolicate ctl events dump doctor help --version --licenses --help' -- "$word")
        return
    fi
    if [[ $previous == --ui && $command =~ ^(record|load)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'hosted' -- "$word"; compgen -d -- "$word")
        return
    fi
    if [[ $previous == --sampler && $command == record ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'auto perf ptrace' -- "$word")
        return
    fi
    if [[ $previous == --env && $command == record ]]; then
        mapfile -t COMPREPLY < <(compgen -e -- "$word")
        return
    fi
    if [[ $previous == --counters && $command == record ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'all none cpu memory faults io switches threads system power' -- "$word")
        return
    fi
    if [[ $previous =~ ^--(off-cpu|python)$ && $command == record ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word")
        return
    fi
    if [[ $previous == --by && $command =~ ^(diff|check|load)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'none samples cpu-time wall-time function:' -- "$word")
        return
    fi
    if [[ $previous == --forgive && $command =~ ^(diff|check|load)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'templates suffixes templates,suffixes' -- "$word")
        return
    fi
    if [[ $previous == --format && $command == export ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'html profile pprof collapsed speedscope perf-script chrome-trace jslb svg otlp csv' -- "$word")
        return
    fi
    case $command:$word in
    report:-*) mapfile -t COMPREPLY < <(compgen -W '--inverted --functions --hot-lines --lines --annotate --symbol-dir --debuginfod --markers --libraries --categories --butterfly --threads --counters --waits --on-cpu --off-cpu --both --weight --thread --search --range --depth --min-percent --limit --json --verbose --color --no-pager --merge-function --merge-matching --focus-function --focus-self --drop-function --collapse-function --collapse-recursion --collapse-direct-recursion --collapse-library --frames --focus-library --drop-library --merge-library --focus-category --drop-category --merge-category --focus-subtree --merge-call-node --inside-markers --help' -- "$word") ;;
    check:-*) mapfile -t COMPREPLY < <(compgen -W '--fail-if --strict --markdown --junit --json --by --forgive --base-range --new-range --base-thread --new-thread --on-cpu --off-cpu --both --weight --thread --search --range --symbol-dir --debuginfod --merge-function --merge-matching --focus-function --focus-self --drop-function --collapse-function --collapse-recursion --collapse-direct-recursion --collapse-library --frames --focus-library --drop-library --merge-library --focus-category --drop-category --merge-category --focus-subtree --merge-call-node --inside-markers --help' -- "$word") ;;
    diff:-*) mapfile -t COMPREPLY < <(compgen -W '--by --forgive --base-range --new-range --base-thread --new-thread --self --total --tree --inverted --functions --hot-lines --lines --libraries --categories --butterfly --on-cpu --off-cpu --both --weight --thread --search --range --depth --min-percent --limit --json --color --no-pager --symbol-dir --debuginfod --merge-function --merge-matching --focus-function --focus-self --drop-function --collapse-function --collapse-recursion --collapse-direct-recursion --collapse-library --frames --focus-library --drop-library --merge-library --focus-category --drop-category --merge-category --focus-subtree --merge-call-node --inside-markers --help' -- "$word") ;;
    export:-*) mapfile -t COMPREPLY < <(compgen -W '--format --output --view --sanitize --keep-names --dry-run --inverted --functions --hot-lines --symbol-dir --debuginfod --markers --libraries --categories --threads --counters --waits --on-cpu --off-cpu --both --weight --thread --search --range --merge-function --merge-matching --focus-function --focus-self --drop-function --collapse-function --collapse-recursion --collapse-direct-recursion --collapse-library --frames --focus-library --drop-library --merge-library --focus-category --drop-category --merge-category --focus-subtree --merge-call-node --inside-markers --help' -- "$word") ;;
    record:-*) mapfile -t COMPREPLY < <(compgen -W '--output --event --period --no-cpu-samples --pid --all --cgroup --no-inherit --follow-daemons --thread --cpu --rate --duration --off-cpu --wakers --python --counters --env --no-host --sampler --paused --delay --iterations --last --max-size --live --push --every --label --header --timeout --retry-for --queue --queue-size --save-only --quiet --verbose --no-open --port --new-address --no-cache --symbol-dir --debuginfod --source-map --ui --recover --help' -- "$word") ;;
    load:-*) mapfile -t COMPREPLY < <(compgen -W '--no-open --port --new-address --no-cache --symbol-dir --debuginfod --source-map --ui --by --forgive --base-range --new-range --base-thread --new-thread --help' -- "$word") ;;
    push:-*) mapfile -t COMPREPLY < <(compgen -W '--queued --label --header --timeout --retry-for --queue --queue-size --symbol-dir --debuginfod --quiet --help' -- "$word") ;;
    symbolicate:-*) mapfile -t COMPREPLY < <(compgen -W '--check --output --no-cache --symbol-dir --debuginfod --help' -- "$word") ;;
    ctl:-*) mapfile -t COMPREPLY < <(compgen -W '--all --help' -- "$word") ;;
    ctl:*)
        case $previous in
        ctl) mapfile -t COMPREPLY < <(compgen -W 'pause resume mark snapshot stop list' -- "$word") ;;
        mark) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$(prof ctl list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word") ;;
        esac
        ;;
    events:-*) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$word") ;;
    events:*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
    dump:-*) mapfile -t COMPREPLY < <(compgen -W '--format --help' -- "$word") ;;
    doctor:-*) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$word") ;;
    doctor:*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
    help:*) mapfile -t COMPREPLY < <(compgen -W 'record load report diff check export push symbolicate ctl events dump doctor help' -- "$word") ;;
    record:*)
        case $previous in
        record) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
        -p | --pid) mapfile -t COMPREPLY < <(cd /proc && compgen -W "$(echo [1-9]*)" -- "$word") ;;
        -e | --event) mapfile -t COMPREPLY < <(compgen -W 'page-faults minor-faults major-faults context-switches cpu-migrations cycles instructions cache-misses branch-misses uprobe: uretprobe: usdt:' -- "$word") ;;
        --cgroup) mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- "$word") ;;
        --period | --cpu | --thread | -r | --rate | -d | --duration | --delay | --iterations | --last | --max-size | --push | --every | --label | --header | --timeout | --retry-for | --queue-size | -P | --port) ;;
        --queue) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
        esac
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _prof prof
