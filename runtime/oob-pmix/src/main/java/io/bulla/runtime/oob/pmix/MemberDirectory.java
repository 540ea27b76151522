// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.runtime.oob.topology.PeerDirectory;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// Where the members listen. A node asks before each attempt to connect, so a member's addresses are tried in turn.
final class MemberDirectory implements PeerDirectory {

    /// @param next whose turn it is
    private record Turn(List<InetSocketAddress> addresses, int next) {}

    // volatile accesses: a turn is one immutable object; two attempts at once at worst take the same address
    private final AtomicReferenceArray<Turn> turns;

    MemberDirectory(List<Member> members) {
        turns = new AtomicReferenceArray<>(members.size());
        members.forEach(this::set);
    }

    void set(Member member) {
        turns.set(member.rank(), new Turn(member.addresses(), 0));
    }

    @Override
    public @Nullable SocketAddress addressOf(int rank) {
        Turn turn = turns.get(rank);
        if (turn.addresses().isEmpty()) {
            return null;
        }
        turns.compareAndSet(
                rank,
                turn,
                new Turn(turn.addresses(), (turn.next() + 1) % turn.addresses().size()));
        return turn.addresses().get(turn.next());
    }
}
