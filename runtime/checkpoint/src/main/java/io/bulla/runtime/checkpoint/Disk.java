// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.List;

/// The calls of a file system that a store makes. In tests, one that forgets what was not forced.
interface Disk {

    /// A file that is written from its begin to its end.
    interface Output extends GatheringByteChannel {

        /// What was written is on the medium when this returns.
        void force() throws IOException;
    }

    /// It may exist. One that is made is open to its owner alone, where the file system knows owners.
    void createFolder(Path folder) throws IOException;

    /// A word for the name of a file that is written, which no other process and no other call gets.
    String attempt();

    /// An empty file for its owner alone.
    ///
    /// @throws java.nio.file.FileAlreadyExistsException if something of that name is there, be it a symbolic link
    Output create(Path file) throws IOException;

    ReadableByteChannel open(Path file) throws IOException;

    /// All bytes of a file, to be read.
    MemorySegment map(Path file) throws IOException;

    /// In one step, and in place of nothing.
    ///
    /// @throws java.nio.file.FileAlreadyExistsException if something of that name is there
    void rename(Path from, Path to) throws IOException;

    /// Names of the folder are on the medium when this returns.
    void forceFolder(Path folder) throws IOException;

    /// A file or an empty folder; it may be missing.
    void delete(Path path) throws IOException;

    boolean exists(Path path);

    /// Whether it is a symbolic link, wherever that leads.
    default boolean isLink(Path path) {
        return false;
    }

    /// @return names of all files and folders in it
    List<String> list(Path folder) throws IOException;
}
