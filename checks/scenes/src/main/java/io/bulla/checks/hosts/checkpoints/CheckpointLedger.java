// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts.checkpoints;

import io.bulla.checks.hosts.HostProcess;
import io.bulla.checks.hosts.Life;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.FolderStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// What nodes say of checkpoints and of each other's numbers, and what is in the folder: outside of the nodes.
final class CheckpointLedger implements HostProcess.Listener {

    private static final String NOT_KNOWN = "whether the checkpoint exists";

    /// A word of a node's, and what is behind it.
    private record Said(Life by, String[] words) {}

    private final FolderStore store;
    private final CheckpointArchive archive;
    // the newest of each life and word
    private final Map<List<Object>, Said> newest = new HashMap<>();
    // received of each rank, by life
    private final Map<Life, long[]> figures = new HashMap<>();
    private final Set<Long> published = new HashSet<>();
    private final List<String> falseVerdicts = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private long givenUp;
    private long unknown;
    private long messages;
    private long lost;
    private long doubled;

    CheckpointLedger(Path folder) {
        store = FolderStore.of(folder);
        archive = CheckpointArchive.of(store);
    }

    @Override
    public synchronized void said(Life by, long nanos, String[] words) {
        switch (words[0]) {
            case "figures" -> figures(by, words);
            case "took" -> took(by, words);
            // no silence is as long as the peer timeout, and who is killed has no next life beside the others
            case "lost" -> {
                if (!by.isOver() && !String.join(" ", words).contains("it has closed")) {
                    falseVerdicts.add("a node is judged: judge=" + by + " " + String.join(" ", words));
                }
            }
            case "at", "begun" -> {}
            case "ended" -> {
                if (!words[1].equals("0") || !words[2].equals("0")) {
                    wrong.add("memory is not given back: node=" + by + " handles=" + words[1] + " bytes=" + words[2]);
                }
            }
            default -> wrong.add("a node said: node=" + by + " " + String.join(" ", words));
        }
        newest.put(List.of(by, words[0]), new Said(by, words));
        notifyAll();
    }

    private void figures(Life by, String[] words) {
        long[] now = new long[words.length - 3];
        for (int peer = 0; peer < now.length; peer++) {
            now[peer] = Long.parseLong(words[3 + peer]);
        }
        long[] before = figures.put(by, now);
        messages += Arrays.stream(now).sum()
                - (before == null
                        ? Arrays.stream(now).sum()
                        : Arrays.stream(before).sum());
        if (!words[1].equals("0") || !words[2].equals("0")) {
            lost = Math.max(lost, Long.parseLong(words[1]));
            doubled = Math.max(doubled, Long.parseLong(words[2]));
            wrong.add("numbers: node=" + by + " lost=" + words[1] + " doubled=" + words[2]);
        }
    }

    private void took(Life by, String[] words) {
        long epoch = Long.parseLong(words[1]);
        String why = String.join(" ", Arrays.copyOfRange(words, 3, words.length));
        if (words[2].equals("published")) {
            published.add(epoch);
        } else if (why.contains(NOT_KNOWN)) {
            unknown++;
        } else {
            givenUp++;
            if (!why.startsWith("checkpoint aborted: epoch=") || why.endsWith("reason=")) {
                wrong.add("given up without a reason: coordinator=" + by + " " + why);
            }
            if (published.contains(epoch)) {
                wrong.add("published and given up: epoch=" + epoch + " " + why);
            }
        }
    }

    /// What a life has said last behind a word.
    synchronized String @Nullable [] newest(Life by, String word) {
        Said said = newest.get(List.of(by, word));
        return said == null ? null : said.words();
    }

    /// It is waited for anew.
    synchronized void forget(Life by, String word) {
        newest.remove(List.of(by, word));
    }

    /// What a node had of each rank when it told of it last; of a node that has told nothing, nothing.
    synchronized long[] received(Life by, int nodes) {
        return figures.getOrDefault(by, new long[nodes]).clone();
    }

    /// Each checkpoint that was told of is there until `keep` newer ones are, each that is there is whole and sound,
    /// and none is there that was given up.
    ///
    /// @param epochGivenUp of the last attempt, or 0
    synchronized void audit(int nodes, long epochGivenUp) throws IOException {
        List<Long> epochs = store.epochs();
        long newestTold = published.stream().mapToLong(each -> each).max().orElse(0);
        if (newestTold > 0 && !epochs.contains(newestTold)) {
            wrong.add("published and not there: epoch=" + newestTold + " there=" + epochs);
        }
        if (epochGivenUp > 0 && epochs.contains(epochGivenUp)) {
            wrong.add("given up and there: epoch=" + epochGivenUp);
        }
        for (long epoch : epochs) {
            try {
                CheckpointManifest manifest = archive.manifest(epoch);
                archive.verify(manifest);
                if (manifest.nodes() != nodes) {
                    wrong.add("of another job: epoch=" + epoch + " nodes=" + manifest.nodes());
                }
            } catch (IOException damaged) {
                // older ones are deleted meanwhile
                if (store.epochs().contains(epoch)) {
                    wrong.add("not sound: epoch=" + epoch + " " + damaged.getMessage());
                }
            }
        }
    }

    /// The newest in the folder, or 0.
    long newest() throws IOException {
        List<Long> epochs = store.epochs();
        return epochs.isEmpty() ? 0 : epochs.getFirst();
    }

    /// Waits until something is so.
    ///
    /// @return false if it was not so in that time
    boolean await(long nanos, BooleanSupplier so) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (!so.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            synchronized (this) {
                wait(20);
            }
        }
        return true;
    }

    synchronized void wrong(String what) {
        wrong.add(what);
    }

    /// @param taken how many were asked for
    synchronized String figures(int taken) {
        return "messages=" + messages + " lost=" + lost + " doubled=" + doubled + " false-verdicts="
                + falseVerdicts.size() + " checkpoints=" + taken + " published=" + published.size() + " given-up="
                + givenUp + " cut-short=" + (taken - published.size() - givenUp);
    }

    synchronized List<String> broken() {
        List<String> all = new ArrayList<>(falseVerdicts);
        all.addAll(wrong);
        return all;
    }
}
