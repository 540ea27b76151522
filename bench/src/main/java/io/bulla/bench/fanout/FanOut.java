// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

/// One way to give one message to some peers, ready to do it again and again.
interface FanOut extends AutoCloseable {

    /// Gives the message to every peer, so often, one after another: the next begins when every peer has all
    /// bytes of this one.
    void run(int times) throws Exception;

    /// Whether the peers compare what they get with what was sent, from now on.
    void compare(boolean yes);

    @Override
    void close() throws Exception;
}
