#!/usr/bin/env bash
# bare_root.sh TOP DOWNLOADS [test] [bench] - the first process of a world of
# its own (bare.sh): makes the root TOP/root, enters it and runs there the demo
# and the verbs of ./run that are named. Mounts, processes, devices, /tmp, /run,
# home and host name are its own; the network is the machine's.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD
root=$1/root
downloads=$2
shift 2

# A first process ends by signals only if it says so; all others end with it.
trap 'exit 143' TERM

# attend COMMAND...: a signal does not wait for it.
attend() {
    "$@" &
    wait $!
}

# What the machine has to say about where packages come from and how they are
# downloaded, and nothing of what else its apt does.
make_root() {
    local from=() f
    for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
        [ ! -e "$f" ] || from+=("$f")
    done
    apt-config dump | grep '^Acquire::' >"$root.conf"
    mmdebstrap --quiet --variant=minbase --mode=root --aptopt="$root.conf" \
        bookworm "$root" "${from[@]}"
}

# copy PATH...: those that are there, to the same place, if that is free.
copy() {
    local path
    for path in "$@"; do
        [ ! -e "$path" ] || cp -rLn --parents "$path" "$root"
    done
}

configure() {
    copy /etc/apt/preferences /etc/apt/preferences.d /etc/apt/keyrings \
        /etc/apt/trusted.gpg.d /usr/share/keyrings /etc/pip.conf \
        /etc/resolv.conf
    local pip=${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf
    [ ! -e "$pip" ] || install -D -m 644 -t "$root/root/.config/pip" "$pip"
    # For when the package ca-certificates comes.
    local trusted=/etc/ssl/certs/ca-certificates.crt
    [ ! -e $trusted ] || install -D -m 644 $trusted \
        "$root/usr/local/share/ca-certificates/machine.crt"
    # It is thrown away: no package needs to be on the disk.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
    echo bare >"$root/etc/hostname"
    echo bare >/proc/sys/kernel/hostname
    printf '%s\n' '127.0.0.1 localhost bare' '::1 localhost' >"$root/etc/hosts"
}

clone() {
    local commit
    commit=$(git rev-parse HEAD)
    git clone --quiet --no-hardlinks "$tree" "$root/root/assay"
    git -C "$root/root/assay" checkout --quiet --detach "$commit"
}

make_devices() {
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    while read -r name minor; do
        mknod -m 666 "$root/dev/$name" c 1 "$minor"
    done <<<$'null 3\nzero 5\nfull 7\nrandom 8\nurandom 9'
    mknod -m 666 "$root/dev/tty" c 5 0
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s fd/0 "$root/dev/stdin"
    ln -s fd/1 "$root/dev/stdout"
    ln -s fd/2 "$root/dev/stderr"
}

# keep NAME PATH: what is downloaded to a path of the root is there next time.
keep() {
    mkdir -p "$downloads/$1" "$root$2"
    mount --bind "$downloads/$1" "$root$2"
}

# By pivot_root: in a chroot a process may not do all that it may in a root.
enter() {
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    make_devices
    keep debs /var/cache/apt/archives
    keep pip /root/.cache/pip
    keep uv /root/.cache/uv
    mkdir "$root/machine"
    cd "$root"
    pivot_root . machine
    cd /
    umount -l /machine
    rmdir /machine
}

# inside COMMAND...: in the clone. Of the machine's environment it gets what
# says how to download, and whether this is CI.
inside() {
    local given=() name
    for name in $(compgen -e); do
        case ${name,,} in
        pip_* | uv_* | *_proxy | ssl_cert_file | ci) given+=("$name=${!name}") ;;
        esac
    done
    echo "== in the bare root: $*" >&2
    attend env -i -C /root/assay HOME=/root TERM=dumb "${given[@]}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

echo "== making the root of a bare Debian 12 in $root" >&2
attend make_root
configure
clone
enter
inside ./run demo --once
for verb in "$@"; do
    inside ./run "$verb"
done
inside apt-get autoclean -qq
