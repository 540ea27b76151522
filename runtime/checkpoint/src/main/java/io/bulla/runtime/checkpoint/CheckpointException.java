// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A checkpoint that cannot be written, is not there, or is damaged. The message names the epoch and the file.
public final class CheckpointException extends IOException {

    @Serial
    private static final long serialVersionUID = 1L;

    private static final int MOST_NAMED = 5;

    /// @param message of one line
    /// @param cause or `null`
    CheckpointException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static CheckpointException damaged(long epoch, String file, String why) {
        return new CheckpointException(
                "checkpoint is damaged: epoch=" + epoch + " file=" + file + " reason=" + why, null);
    }

    /// @param older epochs, the newest first
    CheckpointException withOlder(List<Long> older) {
        String which = older.isEmpty()
                ? "; there is no older one"
                : "; older ones: epochs=" + older.subList(0, Math.min(MOST_NAMED, older.size()));
        CheckpointException named = new CheckpointException(getMessage() + which, getCause());
        named.addSuppressed(this);
        return named;
    }

    static CheckpointException failed(String what, long epoch, String file, IOException cause) {
        return new CheckpointException(what + ": epoch=" + epoch + " file=" + file + " reason=" + reason(cause), cause);
    }

    /// The message of these exceptions is a path, and says no more.
    static String reason(IOException cause) {
        return switch (cause) {
            case AccessDeniedException denied -> "access denied";
            case NoSuchFileException missing -> "no such file";
            case FileAlreadyExistsException there -> "file exists already";
            case NotDirectoryException file -> "not a folder";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            default -> cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        };
    }
}
