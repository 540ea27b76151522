// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;

/** One way to send a text to all clients: those that came while it was the server's. */
interface Sending {

    /** The path of the WebSocket. */
    String PATH = "/feed";

    /** The longest message of a client, in bytes. */
    int LONGEST = 1 << 16;

    /** Adds what a client needs behind the handlers of HTTP; its request comes next. */
    void addTo(ChannelPipeline pipeline);

    /** A client that has shaken hands. If this is over, it is told so. */
    void join(Channel client);

    /** Sends to all. One that is too slow misses some, and is counted. */
    void publish(String text) throws InterruptedException;

    /** Messages that were sent, over all clients. */
    long sent();

    /** Messages that clients missed, because they were too slow. */
    long missed();

    /** Closes all clients with 1001, after which they come again. */
    void close();
}
