// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import java.util.concurrent.CountDownLatch;

/// What a client in this process has read: in order, every character compared.
final class Reading {

    private final String name;
    private final Texts texts;
    private final StringBuilder parts = new StringBuilder();
    private final CountDownLatch over = new CountDownLatch(1);
    private int messages;
    private int wrong;

    Reading(String name, Texts texts) {
        this.name = name;
        this.texts = texts;
    }

    synchronized void read(CharSequence part, boolean last) {
        parts.append(part);
        if (last) {
            if (!texts.text(messages).contentEquals(parts)) {
                wrong++;
            }
            messages++;
            parts.setLength(0);
        }
    }

    void over() {
        over.countDown();
    }

    /// A line as the clients of other languages print.
    String await() throws InterruptedException {
        over.await();
        synchronized (this) {
            return "client=" + name + " messages=" + messages + " wrong=" + wrong;
        }
    }
}
