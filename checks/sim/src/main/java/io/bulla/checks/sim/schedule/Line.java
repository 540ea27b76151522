// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// One line of a schedule: `1.130600 kill 1 machine=0 restart=690000`, times in seconds and microseconds.
///
/// @param micros when
/// @param what a fault or an operation
/// @param who hosts
/// @param values by name
public record Line(long micros, String what, List<Integer> who, Map<String, Long> values) {

    public static Line of(long micros, String what, int... who) {
        List<Integer> hosts = new ArrayList<>();
        for (int host : who) {
            hosts.add(host);
        }
        return new Line(micros, what, hosts, new TreeMap<>());
    }

    /// This line with one value more, or another one.
    public Line with(String name, long value) {
        Map<String, Long> changed = new TreeMap<>(values);
        changed.put(name, value);
        return new Line(micros, what, who, changed);
    }

    public Line at(long other) {
        return new Line(other, what, who, values);
    }

    public int who(int place) {
        return who.get(place);
    }

    public long value(String name) {
        return values.getOrDefault(name, 0L);
    }

    public long nanos(String name) {
        return value(name) * 1000;
    }

    public boolean has(String name) {
        return values.containsKey(name);
    }

    public static Line parse(String text) {
        String[] words = text.strip().split("\\s+");
        List<Integer> who = new ArrayList<>();
        Map<String, Long> values = new TreeMap<>();
        for (int i = 2; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 0) {
                who.add(Integer.parseInt(words[i]));
            } else {
                values.put(words[i].substring(0, equals), Long.parseLong(words[i].substring(equals + 1)));
            }
        }
        return new Line(Math.round(Double.parseDouble(words[0]) * 1e6), words[1], who, values);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%.6f %s", micros / 1e6, what));
        who.forEach(host -> text.append(' ').append(host));
        values.forEach(
                (name, value) -> text.append(' ').append(name).append('=').append(value));
        return text.toString();
    }
}
