// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelId;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;

/// A listening socket of the simulated network.
public final class SimServerChannel extends AbstractServerChannel implements Net.Listener {

    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final Queue<SimChannel> backlog = new ArrayDeque<>();
    private InetSocketAddress local;
    private boolean open = true;
    private boolean wants;

    /// Netty makes it.
    public SimServerChannel() {}

    private SimProcess node() {
        return ((SimLoop) eventLoop()).node();
    }

    @Override
    protected ChannelId newId() {
        return SimChannel.freshId();
    }

    @Override
    public Net.Endpoint accept(int from) {
        SimChannel accepted = new SimChannel(this, node().net(), node().rank(), from);
        backlog.add(accepted);
        eventLoop().execute(this::take);
        node().poke();
        return accepted;
    }

    private void take() {
        if (!open || !wants || backlog.isEmpty()) {
            return;
        }
        wants = false;
        for (SimChannel accepted = backlog.poll(); accepted != null; accepted = backlog.poll()) {
            pipeline().fireChannelRead(accepted);
        }
        pipeline().fireChannelReadComplete();
    }

    @Override
    protected void doBeginRead() {
        wants = true;
        eventLoop().execute(this::take);
    }

    @Override
    protected void doBind(SocketAddress address) {
        local = (InetSocketAddress) address;
        node().net().host(node().rank()).listener = this;
    }

    @Override
    protected void doClose() {
        open = false;
        if (local != null) {
            node().net().host(node().rank()).listener = null;
        }
        backlog.forEach(accepted -> accepted.out().abort());
        backlog.clear();
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && local != null;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimLoop;
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }
}
