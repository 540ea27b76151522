# SPDX-License-Identifier: Apache-2.0
# Finds a JDK 25 or newer: JAVA_HOME, then the usual places. Sets JDK25 and JAVA25, or says what is missing and exits 2.
bulla_is_25() {
    local release=$1/release major
    [ -x "$1/bin/javac" ] && [ -r "$release" ] || return 1
    major=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$release")
    [ "${major:-0}" -ge 25 ]
}
JDK25=
for bulla_home in "${JAVA_HOME:-}" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* /opt/java/* /opt/jdk* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if [ -n "$bulla_home" ] && bulla_is_25 "$bulla_home"; then
        JDK25=$bulla_home
        break
    fi
done
if [ -z "$JDK25" ]; then
    echo "bulla: no JDK 25 found: looked at JAVA_HOME='${JAVA_HOME:-}', /usr/lib/jvm, ~/.sdkman, ~/.jdks, /opt. Install one, or set JAVA_HOME to it." >&2
    exit 2
fi
JAVA25=$JDK25/bin/java
