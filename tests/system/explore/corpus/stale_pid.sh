# A file with the number of a process outlives a power cut, and another process has the number then: the daemon believes that
# it runs already. Mended: it holds a lock, which ends with its process.
if [ -n "$MENDED" ]; then
    exec 9>>/srv/pid
    flock -n 9 || exit 1
elif [ -e /srv/pid ] && kill -0 "$(cat /srv/pid)" 2>/dev/null; then
    exit 1
fi
echo $$ >/srv/pid
sync /srv/pid
sync /srv
sleep 15
rm /srv/pid
