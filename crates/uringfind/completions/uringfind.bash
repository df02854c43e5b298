# Completion of uringfind for bash. Made by `cargo xtask docs`; do not edit.

_uringfind() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    case $previous in
        -D) _uringfind_compgen -W 'all exec help opt rates search stat time tree' ;;
        -regextype) _uringfind_compgen -W 'findutils-default ed emacs gnu-awk grep posix-awk awk posix-basic posix-egrep egrep posix-extended posix-minimal-basic sed' ;;
        -type) _uringfind_compgen -W 'b c d f l p s' ;;
        -xtype) _uringfind_compgen -W 'b c d f l p s' ;;
        -user) _uringfind_compgen -u ;;
        -group) _uringfind_compgen -g ;;
        -exec|-execdir|-ok|-okdir) _uringfind_compgen -c ;;
        -files0-from|-anewer|-Bnewer|-cnewer|-newer|-newer[aBcm][aBcmt]|-samefile|-fls|-fprint|-fprint0|-fprintf) _uringfind_files ;;
        -j|-maxdepth|-mindepth|-amin|-asince|-atime|-Bmin|-Bsince|-Btime|-cmin|-context|-csince|-ctime|-fstype|-gid|-ilname|-iname|-inum|-ipath|-iregex|-iwholename|-links|-lname|-mmin|-msince|-mtime|-name|-path|-perm|-regex|-since|-size|-uid|-used|-wholename|-printf) ;;
        *)
            if [[ $current == -* ]]; then
                _uringfind_compgen -W '-- -D -H -L -O -P -not -a -and -o -or -d -depth -files0-from -ignore_readdir_race -j -maxdepth -mindepth -mount -noignore_readdir_race -noleaf -xdev -daystart -follow -nowarn -regextype -warn -amin -anewer -asince -atime -Bmin -Bnewer -Bsince -Btime -cmin -cnewer -context -csince -ctime -empty -executable -false -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -msince -mtime -name -newer -neweraa -neweraB -newerac -neweram -newerat -newerBa -newerBB -newerBc -newerBm -newerBt -newerca -newercB -newercc -newercm -newerct -newerma -newermB -newermc -newermm -newermt -nogroup -nouser -path -perm -readable -regex -samefile -since -size -true -type -uid -used -user -wholename -writable -xtype -delete -exec -execdir -fls -fprint -fprint0 -fprintf -ls -ok -okdir -print -print0 -printf -prune -quit -rm --help --version -help -version'
            else
                _uringfind_files
            fi
            ;;
    esac
}

_uringfind_compgen() {
    mapfile -t COMPREPLY < <(compgen "$@" -- "$current")
}

_uringfind_files() {
    # Lets bash quote the names and add slashes.
    compopt -o filenames 2>/dev/null
    _uringfind_compgen -f
}

complete -F _uringfind uringfind
