// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.TrialFolder;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;

/// The program of a process that `bulla share` starts. It ends by itself when the other side is gone.
final class ShareReceiver {

    private static final int DIGEST = 32;

    private ShareReceiver() {}

    /// @param args path of the socket, index of this process, how it is sent, how often, whether to die on the way,
    ///     and path of the lender, if there is one
    public static void main(String[] args) {
        try {
            Warmup.run();
            if (ShareOptions.Send.valueOf(args[2]) == ShareOptions.Send.SLAB) {
                borrow(args);
            } else {
                run(
                        args,
                        ShareOptions.Send.valueOf(args[2]) == ShareOptions.Send.SEAL
                                ? ShareReceiver::receiveSeal
                                : ShareReceiver::receiveCopy);
            }
        } catch (IOException | RuntimeException failure) {
            System.err.println(failure.getMessage());
            removeIfOrphan(Path.of(args[0]).getParent());
            System.exit(1);
        }
    }

    private static void borrow(String... args) throws IOException {
        Path lender = Path.of(args[5]);
        Warmup.slabs(lender.getParent());
        try (ArenaSource copies = ArenaSource.create(MemoryBudget.unlimited(), null);
                SlabBorrower borrower = SlabBorrower.connect(lender, Long.parseLong(args[1]), copies, Long.MAX_VALUE)) {
            run(args, (link, last, die) -> receiveLent(borrower, link, last, die));
        }
    }

    private static void run(String[] args, HandOver how) throws IOException {
        try (PosixSocket socket = PosixSocket.connect(Path.of(args[0]))) {
            Link link = new Link(socket, Integer.parseInt(args[1]));
            link.sendLong(link.index());
            boolean die = Boolean.parseBoolean(args[4]);
            for (int left = Integer.parseInt(args[3]); left > 0; left--) {
                link.send(link.receiveByte());
                how.receive(link, left == 1, die);
            }
        }
    }

    /// The process that made the folder is gone if it was killed: then no other process removes it.
    private static void removeIfOrphan(Path folder) {
        try {
            TrialFolder.removeIfOrphan(folder);
        } catch (IOException anotherWasFaster) {
            // another child, or the process itself after all
        }
    }

    private interface HandOver {
        void receive(Link link, boolean last, boolean die) throws IOException;
    }

    private static void receiveSeal(Link link, boolean last, boolean die) throws IOException {
        try (SealedFileHandoff seal = SealedFileHandoff.receiveFrom(link.socket(), Long.MAX_VALUE)) {
            held(link, die);
            if (last) {
                link.send(verdict(seal));
            }
        }
    }

    private static byte verdict(SealedFileHandoff seal) throws IOException {
        try {
            seal.verify();
            return Link.VERIFIED;
        } catch (SealRefusedException differs) {
            return Link.DIFFERS;
        }
    }

    private static void receiveCopy(Link link, boolean last, boolean die) throws IOException {
        long length = link.receiveLong();
        byte[] digest = link.receive(DIGEST);
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null)) {
            Region region = source.allocate(Math.max(1, length));
            MemorySegment target = region.segment();
            link.receiveInto(target.asSlice(0, length));
            try (SealedBuffer buffer = SealedBuffer.adopt(source.seal(region, length), region::release)) {
                held(link, die);
                if (last) {
                    link.send(Arrays.equals(digest, Bytes.sha256(buffer)) ? Link.VERIFIED : Link.DIFFERS);
                }
            }
        }
    }

    private static void receiveLent(SlabBorrower borrower, Link link, boolean last, boolean die) throws IOException {
        try (SealedBuffer buffer = borrower.receive()) {
            held(link, die);
            if (last) {
                long length = buffer.byteSize() - SlabSending.DIGEST;
                try (SealedBuffer file = buffer.slice(0, length);
                        SealedBuffer digest = buffer.slice(length, SlabSending.DIGEST)) {
                    boolean right = Arrays.equals(digest.toByteArray(), Bytes.sha256(file));
                    link.send(right ? Link.VERIFIED : Link.DIFFERS);
                }
            }
        }
    }

    private static void held(Link link, boolean die) throws IOException {
        if (die) {
            System.err.println("dies, as it was told");
            Runtime.getRuntime().halt(3);
        }
        link.send(Link.HELD);
        link.receiveByte();
    }
}
