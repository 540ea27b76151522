// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.checkpoint;

import io.bulla.checks.sim.machines.SimHost;
import io.bulla.runtime.checkpoint.ForgetfulDisk;
import io.bulla.runtime.checkpoint.SimulatedCheckpoints;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.List;

/// A process's way to a disk that all share: each call takes a while, and may be the last that the process, or the
/// whole machine, makes.
final class SlowDisk implements SimulatedCheckpoints.DiskCalls {

    /// What happens at a step.
    interface Fate {

        /// It may kill the process, or throw as a full disk does.
        void step() throws IOException;
    }

    private static final long LONGEST = 100_000;
    private static final long FOR_EVER = 1L << 60;

    private final SimHost host;
    private final ForgetfulDisk disk;
    private final Fate fate;

    SlowDisk(SimHost host, ForgetfulDisk disk, Fate fate) {
        this.host = host;
        this.disk = disk;
        this.fate = fate;
    }

    private void step() throws IOException {
        pause();
        fate.step();
        stopIfKilled();
    }

    private void pause() {
        host.sleep(1 + host.random().nextLong(LONGEST));
    }

    /// A killed process does nothing any more, not even in a finally.
    private void stopIfKilled() {
        while (host.isKilled()) {
            host.sleep(FOR_EVER);
        }
    }

    @Override
    public void createFolder(Path folder) throws IOException {
        step();
        disk.createFolder(folder);
    }

    @Override
    public String attempt() {
        return disk.attempt();
    }

    @Override
    public Output create(Path file) throws IOException {
        step();
        return new SlowOutput(disk.create(file));
    }

    @Override
    public ReadableByteChannel open(Path file) throws IOException {
        pause();
        return disk.open(file);
    }

    @Override
    public MemorySegment map(Path file) throws IOException {
        pause();
        return disk.map(file);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        step();
        disk.rename(from, to);
    }

    @Override
    public void forceFolder(Path folder) throws IOException {
        step();
        disk.forceFolder(folder);
    }

    @Override
    public void delete(Path path) throws IOException {
        step();
        disk.delete(path);
    }

    @Override
    public boolean exists(Path path) {
        pause();
        return disk.exists(path);
    }

    @Override
    public List<String> list(Path folder) throws IOException {
        pause();
        return disk.list(folder);
    }

    private final class SlowOutput implements Output {

        private final Output out;

        SlowOutput(Output out) {
            this.out = out;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return (int) write(new ByteBuffer[] {bytes}, 0, 1);
        }

        @Override
        public long write(ByteBuffer[] bytes) throws IOException {
            return write(bytes, 0, bytes.length);
        }

        /// A part of it, of which half is there if the process is killed meanwhile.
        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
            pause();
            fate.step();
            if (host.isKilled()) {
                ByteBuffer first = bytes[offset].duplicate();
                out.write(first.limit(first.position() + first.remaining() / 2));
            }
            stopIfKilled();
            long written = 0;
            for (int i = offset; i < offset + length; i++) {
                while (bytes[i].hasRemaining()) {
                    written += out.write(bytes[i]);
                }
            }
            return written;
        }

        @Override
        public void force() throws IOException {
            step();
            out.force();
        }

        @Override
        public boolean isOpen() {
            return out.isOpen();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
