#!/bin/sh
# check_links.sh BINARY: k3 must run on a bare machine, so it may need only the C and C++ runtimes and PCRE2, and it
# must stay small enough to be copied round. Fails with the library, or the size, that broke the rule.
set -eu
binary=$1
limit=5242880

for library in $(ldd "$binary" | awk '{print $1}'); do
  case "$(basename "$library")" in
    linux-vdso.so.1|ld-linux-x86-64.so.2|libc.so.6|libm.so.6|libstdc++.so.6|libgcc_s.so.1|libpcre2-8.so.0) ;;
    *) echo "$binary: needs $library, which a bare machine does not have" >&2; exit 1 ;;
  esac
done

copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
strip -o "$copy" "$binary"
size=$(wc -c < "$copy")
if [ "$size" -gt "$limit" ]; then
  echo "$binary: too large when stripped (got $size bytes, expected at most $limit)" >&2
  exit 1
fi
echo "$binary: $size bytes stripped, links only what it may"
