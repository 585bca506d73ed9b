# Two writers who use one temporary name: what is renamed is not what was written. Mended: each has a name of its own.
put() {
    temporary=/tmp/new
    [ -n "$MENDED" ] && temporary=/tmp/new.$1
    echo "$1" >"$temporary"
    echo "$1" >>"$temporary"
    mv "$temporary" "/tmp/state.$1" 2>/dev/null
}
put a &
put b &
wait
[ "$(cat /tmp/state.a)" = "a
a" ] && [ "$(cat /tmp/state.b)" = "b
b" ]
