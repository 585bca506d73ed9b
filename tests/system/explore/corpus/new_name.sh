# A new file is synced, its folder is not: after a power cut the file has no name. Mended: the folder is synced, too.
for told in $(cat /tmp/told 2>/dev/null); do
    [ -e "/srv/$told" ] || exit 1
done
for number in 1 2 3 4 5 6 7 8 9 10; do
    [ -e "/srv/$number" ] && continue
    echo "$number" >"/srv/$number"
    sync "/srv/$number"
    [ -n "$MENDED" ] && sync /srv
    echo "$number" >>/tmp/told
    sleep 2
done
exit 0
