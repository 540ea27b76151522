// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import java.util.List;

/// The ways to the peers, and the designs of each.
public enum Transport {
    UNIX("kernel", "shares", "malloc", "pooled", "repack") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new UnixFanOut(design, message, peers);
        }
    },
    NIO("heap", "byte-string", "byte-string-shared") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new NioFanOut(design, message, peers);
        }
    },
    TCP("shares", "retained-duplicate", "copy-pooled", "copy-adaptive", "copy-unpooled", "copy-heap", "repack") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new NettyFanOut(design, false, message, peers);
        }
    },
    TLS("shares", "retained-duplicate", "copy-pooled", "copy-adaptive", "copy-heap") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new NettyFanOut(design, true, message, peers);
        }
    },
    DESCRIPTOR("seal", "seal-touched", "memfd-per-send", "memfd-per-send-touched") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new DescriptorFanOut(design, message, peers);
        }
    },
    AERON("offer", "sealed-offer") {
        @Override
        FanOut open(String design, Message message, int peers) throws Exception {
            return new AeronFanOut(design, message, peers);
        }
    };

    private final List<String> designs;

    Transport(String... designs) {
        this.designs = List.of(designs);
    }

    List<String> designs() {
        return designs;
    }

    abstract FanOut open(String design, Message message, int peers) throws Exception;
}
