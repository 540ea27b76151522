package io.bulla.pack;

/// The bytes are not what the reader asked for: wrong type, truncated, or over a limit. The reader is where it
/// was.
public final class UnpackException extends RuntimeException {

    private static final long serialVersionUID = 1;

    UnpackException(String message) {
        super(message);
    }
}
