// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.certificates;

import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;

/// Writes certificates and keys as text (RFC 7468).
public final class Pem {

    private static final Base64.Encoder LINES = Base64.getMimeEncoder(64, new byte[] {'\n'});

    private Pem() {}

    public static String of(List<X509Certificate> certificates) {
        StringBuilder text = new StringBuilder();
        try {
            for (X509Certificate each : certificates) {
                text.append(block("CERTIFICATE", each.getEncoded()));
            }
        } catch (CertificateEncodingException notOne) {
            throw new IllegalArgumentException(notOne);
        }
        return text.toString();
    }

    public static String of(PrivateKey key) {
        return block("PRIVATE KEY", key.getEncoded());
    }

    private static String block(String label, byte[] content) {
        return "-----BEGIN " + label + "-----\n" + LINES.encodeToString(content) + "\n-----END " + label + "-----\n";
    }
}
