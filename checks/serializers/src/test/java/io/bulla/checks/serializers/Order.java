// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import java.util.Arrays;

/// What most serializers are given: a number, a text, and bytes.
record Order(long number, String customer, byte[] picture) {

    static Order of(int pictureBytes) {
        byte[] picture = new byte[pictureBytes];
        for (int i = 0; i < pictureBytes; i++) {
            picture[i] = (byte) (i * 31 + i / 251);
        }
        return new Order(4711, "Gr\u00f6\u00dfer & S\u00f6hne", picture);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Order order
                && number == order.number
                && customer.equals(order.customer)
                && Arrays.equals(picture, order.picture);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }
}
