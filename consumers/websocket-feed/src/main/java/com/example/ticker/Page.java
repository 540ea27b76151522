// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;

/** The page: one file, which asks for nothing of another server. */
record Page(ByteBuf html) {

    /** What a browser may do for it: no other server's script, style or picture. */
    static final String POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            + "img-src data:; connect-src 'self'";

    static Page read() throws IOException {
        try (InputStream html = Page.class.getResourceAsStream("page.html")) {
            if (html == null) {
                throw new FileNotFoundException("page.html is not in the jar");
            }
            return new Page(Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(html.readAllBytes()).asReadOnly()));
        }
    }
}
