// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.runtime.oob.topology.PeerDirectory;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// A directory of the members, with all their candidates, which a node tries in turn.
final class MemberDirectory implements PeerDirectory {

    // volatile accesses: a list is immutable, and complete before it is set
    private final AtomicReferenceArray<List<InetSocketAddress>> addresses;

    MemberDirectory(List<Member> members) {
        addresses = new AtomicReferenceArray<>(members.size());
        members.forEach(this::set);
    }

    void set(Member member) {
        addresses.set(member.rank(), member.addresses());
    }

    @Override
    public @Nullable SocketAddress addressOf(int rank) {
        List<InetSocketAddress> all = addresses.get(rank);
        return all.isEmpty() ? null : all.getFirst();
    }

    @Override
    public List<SocketAddress> addressesOf(int rank) {
        return List.copyOf(addresses.get(rank));
    }
}
