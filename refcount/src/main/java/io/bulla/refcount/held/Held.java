// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.held;

import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseLedger.Holder;
import io.bulla.refcount.internal.Live;
import io.bulla.refcount.internal.OwnThread;
import io.bulla.refcount.internal.TagText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Answers a console. Nothing in it changes: it looks at what there is when it is asked.
///
/// A console makes it by [#NAME] and the name of this class, as `bulla held` does. A program whose libraries have a
/// class loader of their own registers it itself:
///
/// ```
/// ManagementFactory.getPlatformMBeanServer().registerMBean(new Held(), new ObjectName(Held.NAME));
/// ```
public final class Held implements HeldMXBean {

    /// The object name of the bean.
    public static final String NAME = "io.bulla:type=Held";

    private static final int MOST = 10;
    private static final long PATIENCE_MILLIS = 2_000;

    private final long patienceMillis;

    /// One that answers.
    public Held() {
        this(PATIENCE_MILLIS);
    }

    /// @param patienceMillis for each thing that is asked
    Held(long patienceMillis) {
        this.patienceMillis = patienceMillis;
    }

    @Override
    public List<String> getBudgets() {
        return lines("budget");
    }

    @Override
    public List<String> getSources() {
        return lines("source");
    }

    @Override
    public List<String> getPools() {
        return lines("pool");
    }

    @Override
    public List<String> getPeers() {
        return lines("node");
    }

    @Override
    public long getOpenHandles() {
        return holders().size();
    }

    @Override
    public long getHeldBytes() {
        return holders().stream().mapToLong(Holder::size).sum();
    }

    @Override
    public long getOldestMillis() {
        return holders().stream()
                .mapToLong(holder -> holder.age().toMillis())
                .max()
                .orElse(0);
    }

    @Override
    public long getHealed() {
        return ledgers().stream().mapToLong(LeaseLedger::healed).sum();
    }

    @Override
    public List<Tag> getTags() {
        Map<String, Tag> byTag = new HashMap<>();
        for (Holder holder : holders()) {
            Tag one = new Tag(
                    String.valueOf(text(holder.tag())),
                    1,
                    holder.size(),
                    holder.age().toMillis());
            byTag.merge(one.tag(), one, Held::sum);
        }
        return byTag.values().stream()
                .sorted(Comparator.comparingLong(Tag::bytes).reversed().thenComparing(Tag::tag))
                .toList();
    }

    private static Tag sum(Tag one, Tag other) {
        return new Tag(
                one.tag(),
                one.handles() + other.handles(),
                one.bytes() + other.bytes(),
                Math.max(one.oldestMillis(), other.oldestMillis()));
    }

    @Override
    public List<Handle> getOldest() {
        return holders().stream()
                .sorted(Comparator.comparing(Holder::age).reversed())
                .limit(MOST)
                .map(Held::handle)
                .toList();
    }

    private static Handle handle(Holder holder) {
        return new Handle(
                text(holder.tag()),
                holder.age().toMillis(),
                holder.size(),
                holder.takenAt().stream().map(StackTraceElement::toString).toList());
    }

    private static @Nullable String text(@Nullable Object tag) {
        return tag == null ? null : TagText.of(tag);
    }

    private static List<LeaseLedger> ledgers() {
        return Live.of("ledger").stream()
                .map(entry -> (LeaseLedger) entry.thing())
                .toList();
    }

    private static List<Holder> holders() {
        return ledgers().stream().flatMap(ledger -> ledger.open().stream()).toList();
    }

    private List<String> lines(String kind) {
        List<String> lines = new ArrayList<>();
        Live.of(kind).forEach(entry -> lines.addAll(asked(kind, entry)));
        return lines;
    }

    /// By a thread of its own: a node whose thread is stuck does not answer, and that is what is looked for.
    private List<String> asked(String kind, Live.Entry<Object> entry) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        OwnThread.of("bulla-held", () -> {
                    try {
                        answer.complete(entry.lines().apply(entry.thing()));
                    } catch (Throwable failure) {
                        answer.complete(List.of(kind + " cannot tell: " + failure));
                    }
                })
                .start();
        return answer.completeOnTimeout(
                        List.of(kind + " does not answer: waited=" + patienceMillis + "ms"),
                        patienceMillis,
                        TimeUnit.MILLISECONDS)
                .join();
    }
}
