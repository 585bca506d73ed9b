# Two scripts take two locks, each in its own order. Mended: both begin with the first.
move() {
    flock "/tmp/$1" flock "/tmp/$2" true
}
: >/tmp/a >/tmp/b
move a b &
if [ -n "$MENDED" ]; then move a b & else move b a & fi
wait
