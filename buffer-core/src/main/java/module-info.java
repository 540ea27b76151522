/// An immutable value of bytes: the one place where ownership and regions meet.
module io.bulla.buffer {
    requires transitive io.bulla.refcount;
    requires transitive io.bulla.iovec;

    exports io.bulla.buffer;
}
