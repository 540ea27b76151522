// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Explain;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.checkpoint.RankImage;
import io.bulla.runtime.checkpoint.Undelivered;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Prints a rank's checkpoint file as text.
final class Contents {

    /// In the order of the text: what has arrived, what goes to peers, broadcasts that have not begun.
    private record Way(Undelivered.Kind kind, int rank, int tag) implements Comparable<Way> {

        @Override
        public int compareTo(Way other) {
            int order = place() - other.place();
            order = order == 0 ? Integer.compare(rank, other.rank) : order;
            return order == 0 ? Integer.compare(tag, other.tag) : order;
        }

        private int place() {
            return switch (kind) {
                case ARRIVED -> 0;
                case OUTGOING -> 1;
                case BROADCAST -> 2;
            };
        }

        @Override
        public String toString() {
            return switch (kind) {
                        case ARRIVED -> "arrived from " + rank;
                        case OUTGOING -> "to peer " + rank;
                        case BROADCAST -> "to all";
                    }
                    + ", tag " + tag;
        }
    }

    private record Content(Optional<WireFormat> format, SealedBuffer bytes) {}

    private final RankImage image;
    private final Map<Way, List<Content>> messages = new TreeMap<>();

    Contents(RankImage image) {
        this.image = image;
        for (NodeCut.OfPeer peer : image.cut().peers()) {
            for (NodeCut.OfLane lane : peer.lanes()) {
                lane.outgoing()
                        .forEach(each -> each.bytes()
                                .ifPresent(bytes -> add(
                                        new Way(Undelivered.Kind.OUTGOING, peer.peer(), each.tag()),
                                        each.format(),
                                        bytes)));
            }
        }
        image.cut().arrived().forEach(each -> add(Undelivered.Kind.ARRIVED, each));
        image.cut().broadcasts().forEach(each -> add(Undelivered.Kind.BROADCAST, each));
    }

    private void add(Undelivered.Kind kind, Message message) {
        add(new Way(kind, message.origin(), message.tag()), message.format(), message.buffer());
    }

    private void add(Way way, Optional<WireFormat> format, SealedBuffer bytes) {
        messages.computeIfAbsent(way, none -> new ArrayList<>()).add(new Content(format, bytes));
    }

    void print(PrintWriter out, boolean items) {
        image.states().forEach((name, state) -> out.println("  state " + name + ": " + state.byteSize() + " bytes"));
        messages.forEach((way, all) -> {
            long bytes = all.stream().mapToLong(each -> each.bytes().byteSize()).sum();
            out.println("  " + way + ": " + counted(all.size(), bytes));
            if (items) {
                all.forEach(each -> print(out, each));
            }
        });
    }

    private static void print(PrintWriter out, Content message) {
        String format = message.format().map(Enum::toString).orElse("format not said");
        out.println("    " + message.bytes().byteSize() + " bytes, " + format);
        if (message.format().filter(WireFormat::described).isPresent()) {
            StringBuilder tree = new StringBuilder();
            Explain.described(message.bytes(), message.format().get(), tree);
            out.print(tree.toString().indent(6));
        }
    }

    static String counted(long messages, long bytes) {
        return messages + (messages == 1 ? " message, " : " messages, ") + bytes + " bytes";
    }
}
