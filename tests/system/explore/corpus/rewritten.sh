# A file of settings is emptied and written anew: a power cut in between leaves an empty one. Mended: a new file is synced and
# takes the old one's name.
if [ -e /tmp/begun ] && [ "$(tail -n 1 /srv/settings)" != end ]; then
    exit 1
fi
if [ ! -e /tmp/begun ]; then
    printf 'number 0\nend\n' >/srv/settings
    sync /srv/settings
    sync /srv
    : >/tmp/begun
fi
for number in 1 2 3 4 5 6 7 8; do
    if [ -n "$MENDED" ]; then
        printf 'number %s\nend\n' "$number" >/srv/settings.new
        sync /srv/settings.new
        mv /srv/settings.new /srv/settings
    else
        printf 'number %s\nend\n' "$number" >/srv/settings
    fi
    sleep 2
done
exit 0
