// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// A file system in memory that stops at a step, and of which remains what was forced, and of the rest what chance
/// leaves: each name of a folder by itself, and of each file any number of bytes.
///
/// Public for the simulator of `checks/sim`, which knows no modules.
@SuppressWarnings("exports")
public final class ForgetfulDisk implements Disk {

    /// The process stops: nothing that it does afterwards has an effect.
    static final class Crash extends Error {
        private static final long serialVersionUID = 1L;
    }

    private static final class Data {
        byte[] live = {};
        byte[] forced = {};
    }

    private static final class Folder {
        Map<String, Object> live = new TreeMap<>();
        Map<String, Object> forced = new TreeMap<>();
    }

    public static final Path ROOT = Path.of("store");

    private final Folder top = new Folder();
    final Set<String> ignored = new TreeSet<>();
    private int attempts;
    private long steps;
    private long crashAt = Long.MAX_VALUE;
    private long failAt = Long.MAX_VALUE;
    private IOException failure = new IOException();

    public ForgetfulDisk() {
        top.live.put(ROOT.toString(), new Folder());
        top.forced.putAll(top.live);
    }

    /// A disk without the root.
    static ForgetfulDisk empty() {
        ForgetfulDisk disk = new ForgetfulDisk();
        disk.top.live.clear();
        disk.top.forced.clear();
        return disk;
    }

    void crashAt(long step) {
        steps = 0;
        crashAt = step;
    }

    /// Once.
    void failAt(long step, IOException failure) {
        steps = 0;
        failAt = step;
        this.failure = failure;
    }

    long steps() {
        return steps;
    }

    private void step() throws IOException {
        if (steps >= crashAt) {
            throw new Crash();
        }
        if (steps++ == failAt) {
            throw failure;
        }
    }

    /// What is there after the crash.
    ///
    /// @param chance `null`: nothing but what was forced
    public ForgetfulDisk recovered(Random chance) {
        ForgetfulDisk disk = empty();
        Folder left = (Folder) left(top, chance);
        disk.top.live.putAll(left.live);
        disk.top.forced.putAll(left.live);
        return disk;
    }

    private static Object left(Object node, Random chance) {
        if (node instanceof Data data) {
            Data left = new Data();
            left.live = data.forced;
            if (chance != null && !Arrays.equals(data.live, data.forced)) {
                left.live = Arrays.copyOf(data.live, chance.nextInt(data.live.length + 1));
            }
            left.forced = left.live;
            return left;
        }
        Folder folder = (Folder) node;
        Folder left = new Folder();
        Set<String> names = new TreeSet<>(folder.live.keySet());
        names.addAll(folder.forced.keySet());
        for (String name : names) {
            Map<String, Object> from = chance != null && chance.nextBoolean() ? folder.live : folder.forced;
            if (from.get(name) != null) {
                left.live.put(name, left(from.get(name), chance));
            }
        }
        left.forced.putAll(left.live);
        return left;
    }

    private Object find(Path path) {
        Object node = top;
        for (Path name : path) {
            // an empty path is the top
            if (!name.toString().isEmpty()) {
                node = node instanceof Folder folder ? folder.live.get(name.toString()) : null;
            }
        }
        return node;
    }

    private Folder folder(Path path) throws IOException {
        if (find(path) instanceof Folder folder) {
            return folder;
        }
        throw new NoSuchFileException(path.toString());
    }

    private Data data(Path path) throws IOException {
        if (find(path) instanceof Data data) {
            return data;
        }
        throw new NoSuchFileException(path.toString());
    }

    private static String name(Path path) {
        return path.getFileName().toString();
    }

    byte[] bytes(Path file) throws IOException {
        return data(file).live.clone();
    }

    void replace(Path file, byte[] bytes) throws IOException {
        data(file).live = bytes;
    }

    @Override
    public void createFolder(Path path) throws IOException {
        step();
        Folder folder = top;
        for (Path name : path) {
            Object next = folder.live.computeIfAbsent(name.toString(), _ -> new Folder());
            if (!(next instanceof Folder)) {
                throw new FileAlreadyExistsException(path.toString());
            }
            folder = (Folder) next;
        }
    }

    @Override
    public String attempt() {
        return "attempt-" + ++attempts;
    }

    @Override
    public Output create(Path file) throws IOException {
        step();
        if (find(file) != null) {
            throw new FileAlreadyExistsException(file.toString());
        }
        Data data = new Data();
        folder(file.getParent()).live.put(name(file), data);
        return new MemoryOutput(data);
    }

    @Override
    public ReadableByteChannel open(Path file) throws IOException {
        return Channels.newChannel(new ByteArrayInputStream(data(file).live));
    }

    @Override
    public MemorySegment map(Path file) throws IOException {
        return MemorySegment.ofArray(data(file).live.clone());
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        step();
        if (find(to) != null) {
            throw new FileAlreadyExistsException(to.toString());
        }
        Folder folder = folder(from.getParent());
        folder.live.put(name(to), data(from));
        folder.live.remove(name(from));
    }

    @Override
    public void forceFolder(Path path) throws IOException {
        step();
        if (!ignored.contains("force of " + (path.equals(ROOT) ? "the root" : "a folder"))) {
            Folder folder = folder(path);
            folder.forced = new TreeMap<>(folder.live);
        }
    }

    @Override
    public void delete(Path path) throws IOException {
        step();
        if (find(path.getParent()) instanceof Folder folder) {
            if (find(path) instanceof Folder full && !full.live.isEmpty()) {
                throw new IOException("folder is not empty: " + path);
            }
            folder.live.remove(name(path));
        }
    }

    @Override
    public boolean exists(Path path) {
        return find(path) != null;
    }

    @Override
    public List<String> list(Path path) throws IOException {
        return List.copyOf(folder(path).live.keySet());
    }

    private final class MemoryOutput implements Output {

        private final Data data;
        private boolean closed;

        MemoryOutput(Data data) {
            this.data = data;
        }

        /// A crash leaves half of it, and a write takes a part at most.
        @Override
        public int write(ByteBuffer bytes) throws IOException {
            int most = Math.min(bytes.remaining(), 100);
            if (steps == crashAt) {
                put(bytes, most / 2);
            }
            step();
            put(bytes, most);
            return most;
        }

        private void put(ByteBuffer bytes, int most) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            all.writeBytes(data.live);
            byte[] next = new byte[most];
            bytes.get(next);
            all.writeBytes(next);
            data.live = all.toByteArray();
        }

        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
            for (int i = offset; i < offset + length; i++) {
                if (bytes[i].hasRemaining()) {
                    return write(bytes[i]);
                }
            }
            return 0;
        }

        @Override
        public long write(ByteBuffer[] bytes) throws IOException {
            return write(bytes, 0, bytes.length);
        }

        @Override
        public void force() throws IOException {
            step();
            if (!ignored.contains("force of a file")) {
                data.forced = data.live;
            }
        }

        @Override
        public boolean isOpen() {
            return !closed;
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
