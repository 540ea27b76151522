package io.bulla.refcount;

/// Tells two listeners.
record BothTraces(LeaseTrace first, LeaseTrace second) implements LeaseTrace {

    private record Kept(Object first, Object second) {}

    @Override
    public Object opened(Lease lease, RefCount count, Object tag) {
        return new Kept(first.opened(lease, count, tag), second.opened(lease, count, tag));
    }

    @Override
    public void closed(Lease lease, Object traced) {
        Kept kept = (Kept) traced;
        first.closed(lease, kept.first());
        second.closed(lease, kept.second());
    }

    @Override
    public Throwable closedBy(Lease lease) {
        Throwable known = first.closedBy(lease);
        return known == null ? second.closedBy(lease) : known;
    }

    @Override
    public String summary() {
        return first.summary().isEmpty() ? second.summary() : first.summary();
    }
}
