// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.schedule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// What happens in a run, written down before it: a seed, what nodes and network are like, and lines by time.
/// Times in microseconds, sizes in bytes.
///
/// @param seed of all delays
/// @param config by name
/// @param lines by time
public record Schedule(long seed, Map<String, Long> config, List<Line> lines) {

    public Schedule {
        lines = lines.stream().sorted(Comparator.comparingLong(Line::micros)).toList();
    }

    public Schedule with(List<Line> others) {
        return new Schedule(seed, config, others);
    }

    public Schedule with(String name, long value) {
        Map<String, Long> changed = new TreeMap<>(config);
        changed.put(name, value);
        return new Schedule(seed, changed, lines);
    }

    public long config(String name) {
        Long value = config.get(name);
        if (value == null) {
            throw new IllegalArgumentException("schedule does not say: " + name);
        }
        return value;
    }

    public int number(String name) {
        return (int) config(name);
    }

    public long nanos(String name) {
        return config(name) * 1000;
    }

    public boolean isGentle() {
        return config.getOrDefault("gentle", 0L) != 0;
    }

    public static Schedule parse(String text) {
        long seed = 0;
        Map<String, Long> config = new TreeMap<>();
        List<Line> lines = new ArrayList<>();
        for (String line : text.split("\n")) {
            String[] words = line.strip().split("\\s+");
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (words[0].equals("seed")) {
                seed = Long.parseLong(words[1]);
            } else if (words[0].equals("config")) {
                for (int i = 1; i < words.length; i++) {
                    int equals = words[i].indexOf('=');
                    config.put(words[i].substring(0, equals), Long.parseLong(words[i].substring(equals + 1)));
                }
            } else {
                lines.add(Line.parse(line));
            }
        }
        return new Schedule(seed, config, lines);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("seed " + seed + "\nconfig");
        config.forEach(
                (name, value) -> text.append(' ').append(name).append('=').append(value));
        lines.forEach(line -> text.append('\n').append(line));
        return text.append('\n').toString();
    }
}
