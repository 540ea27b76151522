// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import io.bulla.refcount.held.HeldMXBean;
import io.bulla.refcount.held.HeldMXBean.Handle;
import io.bulla.refcount.held.HeldMXBean.Tag;
import java.util.ArrayList;
import java.util.List;

/// What is printed of one look at a JVM.
///
/// ```
/// held: pid=4711 handles=2 bytes=16 oldest=14ms healed=0
/// budgets
///   used=262144 limit=4194304000 peak=262144 total=262144
/// handles by tag
///   send to rank 17: handles=1 bytes=8 oldest=14ms
/// oldest handles
///   send to rank 17: bytes=8 age=14ms
///     at com.example.Sends.send(Sends.java:17)
/// ```
final class HeldLines {

    private static final int MOST_TAGS = 20;
    private static final int MOST_FRAMES = 8;

    private final List<String> lines = new ArrayList<>();

    private HeldLines() {}

    static List<String> of(long pid, HeldMXBean bean) {
        HeldLines all = new HeldLines();
        all.lines.add("held: pid=" + pid + " handles=" + bean.getOpenHandles() + " bytes=" + bean.getHeldBytes()
                + " oldest=" + bean.getOldestMillis() + "ms healed=" + bean.getHealed());
        all.section("budgets", bean.getBudgets());
        all.section("sources", bean.getSources());
        all.section("pools", bean.getPools());
        all.section("peers", bean.getPeers());
        all.tags(bean.getTags());
        all.oldest(bean.getOldest());
        return all.lines;
    }

    private void section(String title, List<String> entries) {
        if (!entries.isEmpty()) {
            lines.add(title);
            entries.forEach(entry -> lines.add("  " + plain(entry)));
        }
    }

    private void tags(List<Tag> tags) {
        List<String> entries = new ArrayList<>();
        for (Tag tag : tags.subList(0, Math.min(MOST_TAGS, tags.size()))) {
            entries.add(tag.tag() + ": handles=" + tag.handles() + " bytes=" + tag.bytes() + " oldest="
                    + tag.oldestMillis() + "ms");
        }
        if (tags.size() > MOST_TAGS) {
            entries.add("tags that hold less: " + (tags.size() - MOST_TAGS));
        }
        section("handles by tag", entries);
    }

    private void oldest(List<Handle> handles) {
        List<String> entries = new ArrayList<>();
        for (Handle handle : handles) {
            entries.add(handle.tag() + ": bytes=" + handle.bytes() + " age=" + handle.ageMillis() + "ms");
            handle.takenAt().stream().limit(MOST_FRAMES).forEach(frame -> entries.add("  at " + frame));
        }
        section("oldest handles", entries);
    }

    /// Tags are texts of another program: one line each, and nothing that a terminal obeys.
    private static String plain(String text) {
        return text.replaceAll("[\\p{Cntrl}\\u2028\\u2029]", "?");
    }
}
