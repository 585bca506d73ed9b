# Look, then make: two scripts see no lock, and both work. Mended: mkdir makes the lock, or fails.
work() {
    if [ -n "$MENDED" ]; then
        mkdir /tmp/lock 2>/dev/null || return 0
    else
        [ -e /tmp/lock ] && return 0
        : >/tmp/lock
    fi
    echo worked >>/tmp/done
}
work &
work &
wait
[ "$(wc -l </tmp/done)" = 1 ]
