package io.bulla.buffer;

/// A buffer was used through a handle that is closed already.
public final class ReleasedBufferException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    ReleasedBufferException(String message) {
        super(message);
    }
}
